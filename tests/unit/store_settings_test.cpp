// SPDX-License-Identifier: BSD-3-Clause
// The keeper that is started: no program of the current folder, which anybody may have put there. The folder of the store: one text for it,
// however it is written.
#include "recovery/groups/storage/store_settings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/fault.hpp"
#include "store/store_path.hpp"

namespace fenix_test {
namespace {

using fenix_impl::path_of_store;
using fenix_impl::StoreSettings;

class KeeperProgram : public testing::Test {
 protected:
  KeeperProgram() : path_(std::getenv("PATH")), here_(std::filesystem::current_path()) {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-program-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    for (const char* each : {"/current", "/current/below", "/programs"}) {
      std::filesystem::create_directory(root_ + each);
      const std::string program = root_ + each + "/fenix-keeper";
      std::ofstream(program) << "#!/bin/sh\n";
      EXPECT_EQ(::chmod(program.c_str(), 0700), 0);
    }
    std::filesystem::current_path(root_ + "/current");
    EXPECT_EQ(::setenv("FENIX_STORE", root_.c_str(), 1), 0);
  }
  ~KeeperProgram() override {
    std::filesystem::current_path(here_);
    ::unsetenv("FENIX_STORE");
    ::unsetenv("FENIX_KEEPER");
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(root_);
  }

  static std::string found(const std::string& path, const char* given = "") {
    EXPECT_EQ(::setenv("PATH", path.c_str(), 1), 0);
    EXPECT_EQ(::setenv("FENIX_KEEPER", given, 1), 0);
    return StoreSettings::from_environment().keeper;
  }

  std::string path_;
  std::string here_;
  std::string root_;
};

TEST_F(KeeperProgram, IsNotTakenFromTheCurrentFolder) {
  for (const char* path : {"", ".", ":", "below", "./below:.", "/nonexistent:"}) EXPECT_EQ(found(path), "") << path;
  EXPECT_EQ(found(".:" + root_ + "/programs:below"), root_ + "/programs/fenix-keeper");
}

TEST_F(KeeperProgram, CanBeGivenByAPathOrByAName) {
  EXPECT_EQ(found("", "/there/keeper"), "/there/keeper");
  EXPECT_EQ(found(".", "fenix-keeper"), "");
  EXPECT_EQ(found(root_ + "/programs", "fenix-keeper"), root_ + "/programs/fenix-keeper");
  EXPECT_EQ(found("", "below/fenix-keeper"), std::filesystem::current_path().string() + "/below/fenix-keeper");
}

class StoreFolder : public KeeperProgram {
 protected:
  static std::string root_of(const std::string& given) {
    EXPECT_EQ(::setenv("FENIX_STORE", given.c_str(), 1), 0);
    return StoreSettings::from_environment().root;
  }
};

// Jobs meet at a keeper by this text. The first one makes the folder, so the second one finds it there.
TEST_F(StoreFolder, HasOneTextBeforeItIsThereAndAfterwards) {
  std::filesystem::create_directory_symlink(root_ + "/current", root_ + "/link");
  const std::string real = std::filesystem::canonical(root_).string() + "/current/st";
  const std::string ways[] = {"./st",
                              "st",
                              "st/",
                              "st//.",
                              "../link/st",
                              "below/../st",
                              "../current//st/",
                              root_ + "//current/./st",
                              root_ + "/link/st",
                              "/" + root_ + "/link/st/"};
  for (const bool is_there : {false, true}) {
    if (is_there) std::filesystem::create_directory(real);
    for (const std::string& way : ways) EXPECT_EQ(root_of(way), real) << way << (is_there ? ", made" : "");
  }
  std::filesystem::create_directory_symlink(real, root_ + "/other");
  EXPECT_EQ(root_of("../other/"), real);
  EXPECT_EQ(path_of_store("../other/"), real);
  EXPECT_EQ(root_of("/"), "/");
  EXPECT_EQ(root_of(""), "");
}

// A job that has a store must not begin without one.
TEST_F(StoreFolder, ThatIsUnknownIsStillOne) {
  const std::string gone = root_ + "/gone";
  std::filesystem::create_directory(gone);
  std::filesystem::current_path(gone);
  std::filesystem::remove(gone);
  EXPECT_EQ(root_of("st"), "st");
  std::filesystem::current_path(root_);
}

#ifdef FENIX_FAULT_INJECTION
// P11: the file system of the store hangs a thread of its own, and no rank.
TEST_F(StoreFolder, IsLookedForForAWhileOnly) {
  static std::atomic<bool> hangs{true};
  static std::atomic<bool> has_ended{false};
  fenix_impl::set_fault_listener([](const char* name) {
    if (std::string(name) != "fetch.path") return;
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    has_ended = true;
  });
  ::setenv("FENIX_FLUSH_TIMEOUT", "1", 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(root_of(root_ + "/./st"), root_ + "/./st");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  hangs = false;
  while (!has_ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  fenix_impl::set_fault_listener(nullptr);
  ::unsetenv("FENIX_FLUSH_TIMEOUT");
}
#endif

}  // namespace
}  // namespace fenix_test
