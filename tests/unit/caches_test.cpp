// SPDX-License-Identifier: BSD-3-Clause
// Caches: what the kernel's files say, and what is left of it for each process.
#include "base/caches.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fenix_impl {
namespace {

constexpr std::uint64_t kKiB = 1024;

/// A folder with the files of one processor's caches.
class FilesOfCaches : public testing::Test {
 protected:
  FilesOfCaches() : root_(std::filesystem::temp_directory_path() / ("fenix-caches-" + std::to_string(getpid()))) {}
  ~FilesOfCaches() override { std::filesystem::remove_all(root_); }

  void add(const std::string& level, const std::string& size, const std::string& shared_by) {
    const auto folder = root_ / ("sys/devices/system/cpu/cpu0/cache/index" + std::to_string(number_++));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << '\n';
    std::ofstream(folder / "size") << size << '\n';
    std::ofstream(folder / "shared_cpu_list") << shared_by << '\n';
  }

  [[nodiscard]] Caches read(std::uint64_t processors) const { return read_caches(root_.string(), processors); }

 private:
  std::filesystem::path root_;
  int number_ = 0;
};

TEST_F(FilesOfCaches, AreRead) {
  add("1", "48K", "0,64");
  add("1", "32K", "0,64");
  add("2", "2048K", "0,64");
  add("3", "96M", "0-7,64-71");
  const Caches caches = read(128);
  EXPECT_EQ(caches.second, 2048 * kKiB);
  EXPECT_EQ(caches.last, 96 * kKiB * kKiB);
  EXPECT_EQ(caches.number, 8U);
}

TEST_F(FilesOfCaches, WithoutAThirdLevelEachProcessHasItsSecond) {
  add("1", "64K", "0");
  add("2", "1024K", "0");
  EXPECT_EQ(read(4).share_of(1), 1024 * kKiB);
  EXPECT_EQ(read(4).share_of(64), 1024 * kKiB);
}

TEST_F(FilesOfCaches, DefaultsStandForWhatIsNotThere) {
  const Caches caches = read(2);
  EXPECT_EQ(caches.second, Caches().second);
  EXPECT_EQ(caches.last, Caches().last);
  EXPECT_EQ(caches.number, 1U);
  add("3", "nonsense", "");
  EXPECT_EQ(read(2).last, Caches().last);
}

TEST(Caches, AreDividedAmongTheProcessesThatShareThem) {
  const Caches caches{.second = 1, .last = 120, .number = 4};
  EXPECT_EQ(caches.share_of(1), 121U);
  EXPECT_EQ(caches.share_of(4), 121U);
  EXPECT_EQ(caches.share_of(5), 61U);
  EXPECT_EQ(caches.share_of(12), 41U);
}

}  // namespace
}  // namespace fenix_impl
