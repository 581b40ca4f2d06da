// SPDX-License-Identifier: BSD-3-Clause
// The memory that can be had, from made-up files of the system.
#include "base/available_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace fenix_impl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kReserve = 256 * kMiB;
constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() : root_(fs::temp_directory_path() / ("fenix_available_memory." + std::to_string(getpid()))) {}
  ~AvailableMemory() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_.string() + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void system_has(std::size_t mib) const {
    write("/proc/meminfo",
          "MemTotal: 99999999 kB\nMemAvailable:   " + std::to_string(mib * 1024) + " kB\nSwapFree: 1 kB\n");
  }
  [[nodiscard]] std::size_t available() const { return available_memory(root_.string()); }

 private:
  fs::path root_;
};

std::size_t of_limit(std::size_t limit, std::size_t used) { return limit - used - limit / 32; }

TEST_F(AvailableMemory, IsEndlessWhereNothingIsKnown) { EXPECT_EQ(available(), kEndless); }

TEST_F(AvailableMemory, IsWhatTheSystemHasWithoutAReserve) {
  system_has(1000);
  EXPECT_EQ(available(), 1000 * kMiB - kReserve);
  system_has(100);
  EXPECT_EQ(available(), 0U);
}

TEST_F(AvailableMemory, ObeysTheControlGroupAndThoseAboveIt) {
  system_has(100000);
  write("/proc/self/cgroup", "0::/job/task\n");
  const std::string mount = "/sys/fs/cgroup";
  write(mount + "/job/task/memory.max", "max\n");
  write(mount + "/job/task/memory.current", std::to_string(10 * kMiB));
  EXPECT_EQ(available(), 100000 * kMiB - kReserve);
  write(mount + "/job/memory.max", std::to_string(640 * kMiB));
  write(mount + "/job/memory.current", std::to_string(100 * kMiB));
  EXPECT_EQ(available(), of_limit(640 * kMiB, 100 * kMiB));
  write(mount + "/job/task/memory.max", std::to_string(320 * kMiB));
  EXPECT_EQ(available(), of_limit(320 * kMiB, 10 * kMiB));
  write(mount + "/job/task/memory.current", std::to_string(319 * kMiB));
  EXPECT_EQ(available(), 0U);
}

TEST_F(AvailableMemory, TakesFilesThatCanBeDroppedForFree) {
  system_has(100000);
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", std::to_string(640 * kMiB));
  write("/sys/fs/cgroup/memory.current", std::to_string(600 * kMiB));
  write("/sys/fs/cgroup/memory.stat", "anon 1\ninactive_file " + std::to_string(500 * kMiB) + "\nactive_file 5\n");
  EXPECT_EQ(available(), of_limit(640 * kMiB, 100 * kMiB));
}

TEST_F(AvailableMemory, ObeysControlGroupsOfVersion1) {
  system_has(100000);
  write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n");
  const std::string mount = "/sys/fs/cgroup/memory";
  write(mount + "/memory.limit_in_bytes", "9223372036854771712\n");
  write(mount + "/memory.usage_in_bytes", std::to_string(5000 * kMiB));
  write(mount + "/job/memory.limit_in_bytes", std::to_string(320 * kMiB));
  write(mount + "/job/memory.usage_in_bytes", std::to_string(200 * kMiB));
  write(mount + "/job/memory.stat", "inactive_file 7\ntotal_inactive_file " + std::to_string(150 * kMiB) + "\n");
  EXPECT_EQ(available(), of_limit(320 * kMiB, 50 * kMiB));
}

TEST_F(AvailableMemory, InAContainerTheGroupIsTheMount) {
  system_has(100000);
  write("/proc/self/cgroup", "4:memory:/docker/0123456789\nnonsense\n5:\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(320 * kMiB));
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(100 * kMiB));
  EXPECT_EQ(available(), of_limit(320 * kMiB, 100 * kMiB));
}

}  // namespace
}  // namespace fenix_impl
