// SPDX-License-Identifier: BSD-3-Clause
// Regions: shared memory that peers reach, and of which nothing is left behind.
#include "rma/region.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/pages.hpp"

namespace fenix_impl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBytes = 100000;

std::ptrdiff_t entries(const char* folder) { return std::distance(fs::directory_iterator(folder), {}); }

void expect_no_memory(const std::function<void()>& action) {
  const auto before = entries("/proc/self/fd");
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_NO_MEMORY) << error.what();
  }
  EXPECT_EQ(entries("/proc/self/fd"), before) << "a descriptor is left open";
}

TEST(Region, HasRoomAfterItsHeaderAndIsZero) {
  const Region region(kBytes);
  EXPECT_EQ(region.bytes().size(), kBytes + Region::kHeaderBytes);
  const auto body = region.bytes().subspan(Region::kHeaderBytes);
  EXPECT_TRUE(std::all_of(body.begin(), body.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Region, WritesAreSeenThroughBothMappings) {
  const Region region(kBytes);
  const Mapping peer = map_peer_region(region.address());
  ASSERT_EQ(peer.bytes().size(), region.bytes().size());
  ASSERT_NE(peer.bytes().data(), region.bytes().data());
  region.bytes()[100] = std::byte{1};
  peer.bytes()[kBytes] = std::byte{2};
  EXPECT_EQ(peer.bytes()[100], std::byte{1});
  EXPECT_EQ(region.bytes()[kBytes], std::byte{2});
}

TEST(Region, AddressNamesThisProcess) {
  const Region region(kBytes);
  const auto address = region.address();
  EXPECT_EQ(address.pid, getpid());
  EXPECT_EQ(address.bytes, region.bytes().size());
  EXPECT_NE(address.key, Region(kBytes).address().key);
}

TEST(Region, KeysAreRandom) {
  constexpr std::size_t kRegions = 100;
  std::set<std::uint64_t> keys;
  std::uint64_t set_somewhere = 0;
  std::uint64_t clear_somewhere = 0;
  for (std::size_t i = 0; i < kRegions; ++i) {
    const std::uint64_t key = Region(64).address().key;
    keys.insert(key);
    set_somewhere |= key;
    clear_somewhere |= ~key;
  }
  EXPECT_EQ(keys.size(), kRegions);
  // Each bit takes both values: a counter or a time would not do that.
  EXPECT_EQ(set_somewhere, ~std::uint64_t{0});
  EXPECT_EQ(clear_somewhere, ~std::uint64_t{0});
}

TEST(Region, BelongsToItsUserAlone) {
  const Region region(kBytes);
  struct stat status {};
  ASSERT_EQ(fstat(region.address().fd, &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(status.st_uid, geteuid());
}

// A peer, or a mistake, that shortens the file would end all who have mapped it.
TEST(Region, NobodyCanChangeItsSize) {
  Region region(kBytes);
  const int fd = region.address().fd;
  const auto size = static_cast<off_t>(region.bytes().size());
  EXPECT_NE(ftruncate(fd, 0), 0);
  EXPECT_NE(ftruncate(fd, size + 1), 0);
  EXPECT_NE(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0) << "seals are final";
  EXPECT_EQ(ftruncate(fd, size), 0);
  region.reserve(0, region.bytes().size());
  region.bytes().back() = std::byte{1};
}

TEST(Region, PeersKeepTheMemoryWhenTheOwnerHasLetGo) {
  auto region = std::make_unique<Region>(kBytes);
  const Mapping peer = map_peer_region(region->address());
  region->bytes()[100] = std::byte{1};
  region.reset();
  EXPECT_EQ(peer.bytes()[100], std::byte{1});
}

TEST(Region, ReservedMemoryIsUsableAndKeepsItsContents) {
  Region region(kBytes);
  region.bytes()[100] = std::byte{1};
  region.reserve(0, region.bytes().size());
  region.reserve(5000, 0);
  region.bytes().back() = std::byte{2};
  EXPECT_EQ(region.bytes()[100], std::byte{1});
  EXPECT_EQ(region.bytes().back(), std::byte{2});
}

TEST(Region, ReserveTakesTheMemoryAtOnce) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  Region region(bytes);
  const auto taken = [&] {
    struct stat status {};
    EXPECT_EQ(fstat(region.address().fd, &status), 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  };
  EXPECT_LT(taken(), bytes) << "only what is reserved is taken";
  region.reserve(0, bytes);
  EXPECT_GE(taken(), bytes);
}

TEST(Region, WhatCannotBeReservedIsAnError) {
  Region region(kBytes);
  constexpr std::size_t huge = std::size_t{1} << 62;
  expect_no_memory([&] { region.reserve(huge, huge); });
}

TEST(Region, SizesThatCannotBeHadAreErrors) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most - Region::kHeaderBytes, most / 2, most / 4}) {
    SCOPED_TRACE(bytes);
    expect_no_memory([&] { const Region region(bytes); });
  }
}

TEST(Region, IsNotMappedUnderAWrongKey) {
  const Region region(kBytes);
  auto address = region.address();
  address.key ^= 1;
  expect_no_memory([&] { (void)map_peer_region(address); });
}

TEST(Region, IsNotMappedThroughAClosedDescriptor) {
  auto region = std::make_unique<Region>(kBytes);
  const auto address = region->address();
  region.reset();
  expect_no_memory([&] { (void)map_peer_region(address); });
}

TEST(Region, IsNotMappedThroughADescriptorThatBelongsToAnotherRegionNow) {
  auto region = std::make_unique<Region>(kBytes);
  const auto address = region->address();
  region.reset();
  const Region other(kBytes);
  ASSERT_EQ(other.address().fd, address.fd) << "descriptors are given out from the lowest";
  expect_no_memory([&] { (void)map_peer_region(address); });
}

TEST(Region, IsNotMappedBeyondTheEndOfItsFile) {
  const Region region(kBytes);
  auto address = region.address();
  address.bytes += 1;
  expect_no_memory([&] { (void)map_peer_region(address); });
}

TEST(Region, IsNotMappedFromAProcessThatDoesNotExist) {
  const Region region(kBytes);
  auto address = region.address();
  address.pid = std::numeric_limits<std::int32_t>::max();
  expect_no_memory([&] { (void)map_peer_region(address); });
}

TEST(Region, MoveTakesTheMemoryAlong) {
  Region first(kBytes);
  first.bytes()[100] = std::byte{1};
  const auto address = first.address();

  Region second(std::move(first));
  EXPECT_EQ(second.bytes()[100], std::byte{1});
  EXPECT_EQ(second.address().fd, address.fd);

  Region third(kBytes);
  third = std::move(second);
  EXPECT_EQ(third.bytes()[100], std::byte{1});
  EXPECT_EQ(map_peer_region(third.address()).bytes()[100], std::byte{1});
}

TEST(Region, EmptyOneHasNoMemory) {
  const Region region;
  EXPECT_TRUE(region.bytes().empty());
  EXPECT_TRUE(Mapping().bytes().empty());
}

TEST(Region, LeavesNoDescriptorAndNoFileBehind) {
  const auto descriptors = entries("/proc/self/fd");
  const auto files = entries("/dev/shm");
  {
    Region region(kBytes);
    const Mapping peer = map_peer_region(region.address());
    EXPECT_EQ(entries("/dev/shm"), files) << "a region has no name, even while it is in use";
    Region other(std::move(region));
    other = Region(kBytes);
    const RegionHold hold(other);
  }
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/dev/shm"), files);
}

// Pages of the range that have memory behind them.
std::size_t pages_in_memory(std::span<std::byte> bytes) {
  std::vector<unsigned char> pages((bytes.size() + kPage - 1) / kPage);
  EXPECT_EQ(mincore(bytes.data(), bytes.size(), pages.data()), 0) << "it is not mapped";
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

bool is_mapped(std::span<std::byte> bytes) {
  std::vector<unsigned char> pages((bytes.size() + kPage - 1) / kPage);
  return mincore(bytes.data(), bytes.size(), pages.data()) == 0;
}

TEST(RegionHold, KeepsTheMemoryAsItIs) {
  std::span<std::byte> bytes;
  std::optional<RegionHold> hold;
  {
    const Region region(kBytes);
    hold.emplace(region);
    bytes = region.bytes();
    bytes[100] = std::byte{1};
  }
  EXPECT_EQ(bytes[100], std::byte{1});
  hold->end();
  EXPECT_FALSE(is_mapped(bytes));
}

// A transfer that comes late finds memory, and no other region is where it writes.
TEST(RegionHold, ThatIsNotEndedLeavesAddressesAndNoMemory) {
  std::span<std::byte> bytes;
  {
    Region region(kBytes);
    region.reserve(0, region.bytes().size());
    bytes = region.bytes();
    bytes[100] = std::byte{1};
    const RegionHold hold(region);
  }
  EXPECT_EQ(pages_in_memory(bytes), 0U);
  const Region other(kBytes);
  EXPECT_TRUE(other.bytes().data() + other.bytes().size() <= bytes.data() ||
              bytes.data() + bytes.size() <= other.bytes().data());
  EXPECT_EQ(bytes[100], std::byte{0});
  bytes.back() = std::byte{2};
  EXPECT_EQ(bytes.back(), std::byte{2});
  munmap(bytes.data(), bytes.size());
}

// The same region may have been exposed more than once, and to teams that have ended.
TEST(RegionHold, TheLastOneCounts) {
  std::optional<Region> region(std::in_place, kBytes);
  const auto bytes = region->bytes();
  std::optional<RegionHold> first(*region);
  std::optional<RegionHold> second(*region);
  first.reset();
  bytes[100] = std::byte{1};
  region.reset();
  EXPECT_EQ(bytes[100], std::byte{1});
  second->end();
  EXPECT_TRUE(is_mapped(bytes)) << "the first one was not ended";
  EXPECT_EQ(pages_in_memory(bytes), 0U);
  munmap(bytes.data(), bytes.size());
}

// The process that offers it offers it again, if what came after the take-over was cut short.
TEST(RegionHold, LeavesTheContentOfARegionThatWasTakenOver) {
  const Region offered(kBytes);
  offered.bytes().back() = std::byte{1};
  std::vector<std::span<std::byte>> left;
  const auto take_over = [&](bool claims) {
    const Region region = Region::take_over(offered.address());
    left.push_back(region.bytes());
    const RegionHold hold(region);
    if (claims) region.claim();
  };
  take_over(false);
  EXPECT_EQ(offered.bytes().back(), std::byte{1});
  EXPECT_EQ(Region::take_over(offered.address()).bytes().back(), std::byte{1});
  take_over(true);
  EXPECT_EQ(offered.bytes().back(), std::byte{0});
  for (const auto bytes : left) munmap(bytes.data(), bytes.size());
}

}  // namespace
}  // namespace fenix_impl
