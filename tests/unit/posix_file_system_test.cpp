// SPDX-License-Identifier: BSD-3-Clause
// A store in a folder to which other users may write as well: what they put there is neither followed nor taken. As root, files of another
// user are tried. Also: file systems that refuse large pieces past their memory.
#include "store/posix_file_system.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "store/run_log.hpp"
#include "store/store.hpp"
#include "store/write_behind.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;
constexpr const char* kDataset = "/7.1.1.1";

class SharedStore : public testing::Test {
 protected:
  SharedStore() {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-shared-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    outside_ = root_ + "/outside";
    std::filesystem::create_directory(outside_);
    std::ofstream(outside_ + "/dear") << "dear";
  }
  ~SharedStore() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] static std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }
  static void give_away(const std::string& path) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
    constexpr uid_t kOtherUser = 65534;
    ASSERT_EQ(::lchown(path.c_str(), kOtherUser, kOtherUser), 0);
  }
  void append(const std::string& path) { files_.append(path, std::as_bytes(std::span(kText))); }
  /// Expects that an operation is refused, and what is outside is as it was.
  void expect_refused(const std::function<void()>& operation, const char* what) {
    EXPECT_THROW(operation(), StoreError) << what;
    EXPECT_EQ(text_in(outside_ + "/dear"), "dear") << what;
  }

  static constexpr std::string_view kText = "new text";
  PosixFileSystem files_;
  std::string root_;
  std::string outside_;
};

TEST_F(SharedStore, LinksAreNotFollowed) {
  const std::string link = root_ + "/log.1";
  std::filesystem::create_symlink(outside_ + "/dear", link);
  expect_refused([&] { append(link); }, "append");
  expect_refused([&] { (void)files_.modify(link); }, "modify");
  expect_refused([&] { (void)files_.open(link, FileSystem::Use::small); }, "open");
  EXPECT_FALSE(files_.create(link, FileSystem::Use::small));
  note_in_log(files_, root_, 1, "a line");
  EXPECT_EQ(text_in(outside_ + "/dear"), "dear");
  std::filesystem::create_symlink(outside_ + "/new", root_ + "/log.2");
  note_in_log(files_, root_, 2, "a line");
  EXPECT_FALSE(std::filesystem::exists(outside_ + "/new"));
  std::filesystem::create_hard_link(outside_ + "/dear", root_ + "/log.3");
  expect_refused([&] { append(root_ + "/log.3"); }, "append to another name of a file");
}

// Removing a dataset removes all that is in its folder: of a link only the link itself goes.
TEST_F(SharedStore, ALinkIsNoDataset) {
  std::filesystem::create_directory_symlink(outside_, root_ + kDataset);
  expect_refused([&] { files_.make_folder(root_ + kDataset); }, "make_folder");
  expect_refused([&] { (void)files_.list(root_ + kDataset); }, "list");
  expect_refused([&] { (void)files_.create(root_ + kDataset + "/new", FileSystem::Use::small); }, "create");
  EXPECT_FALSE(files_.open(root_ + kDataset + "/dear", FileSystem::Use::small));
  files_.remove(root_ + kDataset + "/dear");
  Store(files_, root_).remove({7, 1, 1, 1});
  EXPECT_TRUE(Store(files_, root_).datasets().empty());
  EXPECT_EQ(text_in(outside_ + "/dear"), "dear");
  EXPECT_FALSE(std::filesystem::exists(outside_ + "/new"));
}

TEST_F(SharedStore, OnlyWhatIsOfThisUserIsRemovedWithItsFolder) {
  const std::string folder = root_ + "/removed.7.1.1.1";
  std::filesystem::create_directories(folder + "/below");
  std::ofstream(folder + "/below/file") << "text";
  std::filesystem::create_directory_symlink(outside_, folder + "/below/link");
  files_.remove_tree(folder);
  EXPECT_FALSE(std::filesystem::exists(folder));
  std::filesystem::create_directory_symlink(outside_, folder);
  files_.remove_tree(folder);
  EXPECT_FALSE(std::filesystem::is_symlink(folder));
  files_.remove_tree(folder);
  EXPECT_EQ(text_in(outside_ + "/dear"), "dear");
  give_away(outside_);
  if (IsSkipped()) return;
  expect_refused([&] { files_.remove_tree(outside_); }, "a folder of another user");
}

// P10: whatever is there, a job gets a number, and is told of each one that comes after it.
TEST_F(SharedStore, WhatIsNoRunKeepsNoJobFromTheStore) {
  Store store(files_, root_);
  std::filesystem::create_directory(root_ + "/id");
  std::filesystem::create_directory(root_ + "/run.4294967295");
  std::filesystem::create_directory(root_ + "/9.1.4294967295.1");
  const StoreRun run = store.begin_run();
  EXPECT_EQ(run.number, 1U);
  EXPECT_EQ(run.only_reads, 0U);
  EXPECT_EQ(run.store, 0U);
  std::filesystem::create_directory(root_ + "/run.2");
  std::filesystem::create_symlink(root_ + "/run.3", root_ + "/run.3");
  std::ofstream(root_ + "/run.4") << "running \n";
  EXPECT_TRUE(store.has_successor(run.number));
  give_away(root_ + "/run.4");
  if (IsSkipped()) return;
  EXPECT_FALSE(store.has_successor(run.number));
  EXPECT_EQ(store.begin_run().number, 5U);
  EXPECT_TRUE(store.has_successor(run.number));
}

TEST_F(SharedStore, TheFolderOfTheStoreMayBeALink) {
  const std::string link = root_ + "/store";
  std::filesystem::create_directory_symlink(outside_, link);
  EXPECT_EQ(Store(files_, link).begin_run().number, 1U);
  files_.make_folder(link + kDataset);
  EXPECT_TRUE(files_.create(link + kDataset + "/plan", FileSystem::Use::small));
  EXPECT_TRUE(std::filesystem::exists(outside_ + kDataset + "/plan"));
}

TEST_F(SharedStore, WhatIsOfAnotherUserIsNotTaken) {
  const std::string file = root_ + "/current";
  std::ofstream(file) << "dear";
  give_away(file);
  if (IsSkipped()) return;
  EXPECT_THROW((void)files_.open(file, FileSystem::Use::small), StoreError);
  EXPECT_THROW((void)files_.modify(file), StoreError);
  EXPECT_THROW(append(file), StoreError);
  EXPECT_EQ(text_in(file), "dear");
  std::filesystem::create_directory(root_ + kDataset);
  give_away(root_ + kDataset);
  EXPECT_THROW(files_.make_folder(root_ + kDataset), StoreError);
  EXPECT_THROW((void)files_.open(root_ + kDataset + "/plan", FileSystem::Use::small), StoreError);
  EXPECT_THROW((void)files_.create(root_ + kDataset + "/plan", FileSystem::Use::small), StoreError);
  EXPECT_THROW((void)files_.list(root_ + kDataset), StoreError);
}

// To open it would wait for a reader.
TEST_F(SharedStore, APipeIsNoFile) {
  ASSERT_EQ(::mkfifo((root_ + "/log.1").c_str(), 0600), 0);
  EXPECT_THROW(append(root_ + "/log.1"), StoreError);
  EXPECT_THROW((void)files_.open(root_ + "/log.1", FileSystem::Use::small), StoreError);
}

TEST_F(SharedStore, ModesAreTheSameWithAnyUmask) {
  for (const mode_t mask : {0000U, 0777U}) {
    const std::string name = std::to_string(mask);
    const mode_t before = ::umask(mask);
    const bool is_made = files_.create(root_ + "/file" + name, FileSystem::Use::small) != nullptr;
    append(root_ + "/log" + name);
    files_.make_folder(root_ + "/folder" + name);
    ::umask(before);
    EXPECT_TRUE(is_made);
    EXPECT_EQ(mode_of(root_ + "/file" + name), 0600U);
    EXPECT_EQ(mode_of(root_ + "/log" + name), 0600U);
    EXPECT_EQ(mode_of(root_ + "/folder" + name), 0700U);
  }
  // Folders of a project may pass their group on.
  ASSERT_EQ(::chmod(root_.c_str(), 02777), 0);
  files_.make_folder(root_ + "/of-project");
  EXPECT_EQ(mode_of(root_ + "/of-project"), 02700U);
}

TEST_F(SharedStore, TellsWhoElseMayWrite) {
  ASSERT_EQ(::chmod(root_.c_str(), 0755), 0);
  EXPECT_EQ(files_.trust_in(root_), "");
  for (const mode_t mode : {0775U, 0777U, 0757U}) {
    ASSERT_EQ(::chmod(root_.c_str(), mode), 0);
    EXPECT_EQ(files_.trust_in(root_), "other users may write to it");
  }
  give_away(root_);
  if (IsSkipped()) return;
  EXPECT_EQ(files_.trust_in(root_), "it is a folder of another user (65534)");
}

// Where O_DIRECT is allowed, and wants more than FileSystem::kAlignment, the system says EINVAL: as for what is not aligned at all.
TEST_F(SharedStore, FilesAreUsedWithoutDirectAccessWhereItFails) {
  const auto file = files_.create(root_ + "/d.0.0", FileSystem::Use::large);
  ASSERT_TRUE(file);
  const std::string text(5000, 'x');
  EXPECT_NO_THROW(file->write(0, std::as_bytes(std::span(text)).subspan(1)));
  const auto again = files_.open(root_ + "/d.0.0", FileSystem::Use::large);
  std::vector<std::byte> got(text.size());
  EXPECT_EQ(again->read(0, std::span(got).subspan(3)), text.size() - 3);
  EXPECT_EQ(got[3], static_cast<std::byte>('x'));
}

/// A file that takes no data, and knows how much of it has not been synced.
class CountedFile : public StoreFile {
 public:
  void write(std::uint64_t, std::span<const std::byte> bytes) override {
    unsynced_ += bytes.size();
    most_unsynced = std::max(most_unsynced, unsynced_);
  }
  std::size_t read(std::uint64_t, std::span<std::byte>) override { return 0; }
  std::uint64_t size() override { return 0; }
  void sync() override { unsynced_ = 0; }
  std::uint64_t most_unsynced = 0;

 private:
  std::uint64_t unsynced_ = 0;
};

// P11: without O_DIRECT, all that is written waits for a sync, in which nothing is seen to move.
TEST(WriteBehind, NoSyncHasMoreToWriteThanABoundedAmount) {
  constexpr std::uint64_t kPiece = std::uint64_t{8} << 20U;
  constexpr int kPieces = 300;
  CountedFile file;
  const std::vector<std::byte> piece(kPiece);
  std::uint64_t told = 0;
  const std::function<void(std::uint64_t)> written = [&told](std::uint64_t bytes) { told += bytes; };
  WriteBehind out(file, written);
  for (int i = 0; i < kPieces; ++i) out.write(static_cast<std::uint64_t>(i) * kPiece, piece);
  out.finish();
  EXPECT_EQ(told, kPieces * kPiece);
  EXPECT_LE(file.most_unsynced, std::uint64_t{256} << 20U);
}

}  // namespace
}  // namespace fenix_test
