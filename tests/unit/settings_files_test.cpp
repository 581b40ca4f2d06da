// SPDX-License-Identifier: BSD-3-Clause
// Files of settings: what a line may be, which file counts, and what is said of the rest.
#include "base/settings_files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fenix_impl {
namespace {

class SettingsFilesTest : public testing::Test {
 protected:
  SettingsFilesTest() {
    std::string name = std::filesystem::temp_directory_path() / "fenix-settings.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SettingsFilesTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::filesystem::path folder_;
};

std::string value_of(const SettingsFiles& files, std::string_view name) {
  const Setting* const found = files.find(name);
  return found != nullptr ? found->value : "none";
}

TEST_F(SettingsFilesTest, LinesAreNamesAndValues) {
  SettingsFiles files;
  const std::string path = file("a", "# a comment\n\n  FENIX_LOG =  info \r\nFENIX_STORE=/a b=c\n\tFENIX_TIMEOUT= 10m");
  files.add(path, SettingsFiles::Must::exist);
  EXPECT_TRUE(files.mistakes().empty());
  EXPECT_EQ(value_of(files, "FENIX_LOG"), "info");
  EXPECT_EQ(value_of(files, "FENIX_STORE"), "/a b=c");
  EXPECT_EQ(value_of(files, "FENIX_TIMEOUT"), "10m");
  EXPECT_EQ(files.find("FENIX_TIMEOUT")->place, path + ":5");
  EXPECT_EQ(value_of(files, "FENIX_PATH"), "none");
}

TEST_F(SettingsFilesTest, TheFirstFileCounts) {
  SettingsFiles files;
  files.add(file("user", "FENIX_LOG=info\n"), SettingsFiles::Must::exist);
  files.add(file("site", "FENIX_LOG=off\nFENIX_PATH=map\n"), SettingsFiles::Must::not_exist);
  EXPECT_TRUE(files.mistakes().empty());
  EXPECT_EQ(value_of(files, "FENIX_LOG"), "info");
  EXPECT_EQ(value_of(files, "FENIX_PATH"), "map");
  EXPECT_EQ(files.all().size(), 3U);
}

TEST_F(SettingsFilesTest, OtherLinesAreTold) {
  for (const char* const line : {"FENIX_LOG", "FENIX_LOG=", "= info", "=", "export"}) {
    SettingsFiles files;
    const std::string path = file("a", std::string("FENIX_PATH=map\n") + line + "\n");
    files.add(path, SettingsFiles::Must::exist);
    ASSERT_EQ(files.mistakes().size(), 1U) << line;
    EXPECT_TRUE(files.mistakes().front().starts_with(path + ":2: the line has to be NAME = VALUE"))
        << files.mistakes().front();
    EXPECT_EQ(value_of(files, "FENIX_PATH"), "map");
  }
}

TEST_F(SettingsFilesTest, TheSameNameTwiceIsTold) {
  SettingsFiles files;
  const std::string path = file("a", "FENIX_LOG=info\nFENIX_LOG=off\n");
  files.add(path, SettingsFiles::Must::exist);
  ASSERT_EQ(files.mistakes().size(), 1U);
  EXPECT_EQ(files.mistakes().front(), path + ":2: FENIX_LOG is in " + path + ":1 already");
}

TEST_F(SettingsFilesTest, WhatIsNoFileIsTold) {
  SettingsFiles files;
  files.add(folder_ / "none", SettingsFiles::Must::not_exist);
  EXPECT_TRUE(files.mistakes().empty());
  files.add(folder_ / "none", SettingsFiles::Must::exist);
  files.add(folder_, SettingsFiles::Must::not_exist);
  ASSERT_EQ(files.mistakes().size(), 2U);
  EXPECT_EQ(files.mistakes().back(), folder_.string() + " cannot be read");
}

TEST_F(SettingsFilesTest, AnyBytesAreRead) {
  SettingsFiles files;
  const std::string bytes("\0\xff=\x01\n=\0=\n", 8);
  files.add(file("bytes", bytes), SettingsFiles::Must::exist);
  files.add(file("long", "FENIX_STORE=" + std::string(1 << 20, 'x')), SettingsFiles::Must::exist);
  EXPECT_EQ(value_of(files, "FENIX_STORE").size(), std::size_t{1} << 20U);
}

}  // namespace
}  // namespace fenix_impl
