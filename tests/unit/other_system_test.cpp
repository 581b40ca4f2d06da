// SPDX-License-Identifier: BSD-3-Clause
// Other systems than this one: with pages of 64 KiB, without a request of later systems, or with requests that end at any signal. The linker
// puts the functions below in the place of those of the C library, for the library's own code.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "core/member/member_buffer.hpp"
#include "keeper/flush_job.hpp"
#include "rma/map_path.hpp"
#include "support/group_data.hpp"

namespace {

constexpr std::size_t kSystemPage = 65536;
bool knows_populate = true;
bool ends_at_signals = false;
int ended_early = 0;

bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kSystemPage == 0; }

}  // namespace

extern "C" {

long __real_sysconf(int name);
int __real_madvise(void* address, std::size_t bytes, int advice);
void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_posix_fallocate(int fd, off_t offset, off_t bytes);

long __wrap_sysconf(int name) { return name == _SC_PAGESIZE ? static_cast<long>(kSystemPage) : __real_sysconf(name); }

int __wrap_madvise(void* address, std::size_t bytes, int advice) {
  const bool knows = advice != MADV_POPULATE_WRITE || knows_populate;
  if (knows && is_aligned(address)) return __real_madvise(address, bytes, advice);
  errno = EINVAL;
  return -1;
}

// Gives aligned addresses only, and takes aligned offsets only. Leaves some address space taken.
void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (static_cast<std::size_t>(offset) % kSystemPage != 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  if (address != nullptr) return __real_mmap(address, bytes, protection, flags, fd, offset);
  void* const room =
      __real_mmap(nullptr, bytes + kSystemPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  auto* const start =
      static_cast<std::byte*>(room) + (kSystemPage - reinterpret_cast<std::uintptr_t>(room) % kSystemPage);
  return __real_mmap(start, bytes, protection, flags | MAP_FIXED, fd, offset);
}

// As the system did it before: what was there is given back when a signal comes, and one comes before a piece is done.
int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes) {
  constexpr int kForEver = 1000;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (!ends_at_signals || sigismember(&blocked, SIGPROF) != 0) return __real_posix_fallocate(fd, offset, bytes);
  if (++ended_early > kForEver) throw std::runtime_error("memory is asked for again and again");
  return EINTR;
}
}

namespace fenix_test {
namespace {

using fenix_impl::Descriptor;
using fenix_impl::MapPath;
using fenix_impl::MemberBuffer;
using fenix_impl::PeerMemory;
using fenix_impl::Region;

constexpr std::size_t kRegionBytes = 1 << 20;

off_t bytes_in_memory(const Region& region) {
  struct stat status {};
  EXPECT_EQ(fstat(region.file()->get(), &status), 0);
  return status.st_blocks * 512;
}

// A rank takes memory for what it is about to write to another one.
void expect_reserved_at_peer() {
  Job job(2);
  expect_done(job.run([](Rank& rank) {
    constexpr std::size_t kOffset = 3 * 4096;
    constexpr std::size_t kReserved = 100'000;
    const Region region(kRegionBytes);
    const auto peers = MapPath().expose(*rank.team, region);
    const off_t before = bytes_in_memory(region);
    rank.team->barrier();
    peers->reserve(1 - rank.number, kOffset, kReserved);
    rank.team->barrier();
    EXPECT_GE(bytes_in_memory(region) - before, static_cast<off_t>(kReserved)) << "it was not reserved";
    rank.team->barrier();
  }));
}

TEST(LargePages, MemoryIsReservedAtAPeer) { expect_reserved_at_peer(); }

TEST(LargePages, MemoryIsMappedInAdvance) {
  Job job(2);
  expect_done(job.run([](Rank& rank) {
    const Region region(kRegionBytes);
    const auto peers = MapPath().expose(*rank.team, region);
    peers->expect_access(1 - rank.number, 5 * 4096, 2 * kSystemPage);
    rank.team->barrier();
    EXPECT_GE(bytes_in_memory(region), static_cast<off_t>(2 * kSystemPage));
    rank.team->barrier();
  }));
}

TEST(LargePages, TheKeeperMapsAnyPartOfARegion) {
  Region region(kRegionBytes);
  region.reserve(0, kRegionBytes);
  for (const std::size_t offset : {std::size_t{4096}, std::size_t{5 * 4096 + 64}, kSystemPage, kSystemPage + 4096}) {
    region.bytes()[offset] = std::byte{42};
    const PeerMemory part(*region.file(), offset, 1000, false);
    EXPECT_EQ(part.bytes()[0], std::byte{42});
    region.bytes()[offset] = std::byte{0};
  }
}

TEST(LargePages, BuffersOfMembersAreAligned) {
  MemberBuffer buffer;
  buffer.replace(buffer.grown(1000));
  EXPECT_TRUE(is_aligned(buffer.data()));
  EXPECT_GE(buffer.bytes(), 1000U);
  EXPECT_LE(bytes_in_memory(buffer.region()), static_cast<off_t>(3 * 4096)) << "what is before it has memory";
}

TEST(EarlierSystem, MemoryIsReservedAtAPeerWithoutThatRequest) {
  knows_populate = false;
  expect_reserved_at_peer();
  knows_populate = true;
}

// A timer of a profiler: signals come faster than the system takes the memory of a piece.
TEST(EarlierSystem, SignalsDoNotKeepARegionFromItsMemory) {
  ends_at_signals = true;
  ended_early = 0;
  Region region(kRegionBytes);
  EXPECT_NO_THROW(region.reserve(0, kRegionBytes));
  ends_at_signals = false;
  EXPECT_GE(bytes_in_memory(region), static_cast<off_t>(kRegionBytes));
  EXPECT_EQ(ended_early, 0);
}

// The real thing: where the system goes on at signals, there are as many as there like to be.
TEST(EarlierSystem, AProfilerSeesItsSignals) {
  struct sigaction action {};
  struct sigaction before {};
  static volatile sig_atomic_t signals = 0;
  action.sa_handler = [](int) { signals = signals + 1; };
  ASSERT_EQ(sigaction(SIGPROF, &action, &before), 0);
  const itimerval often{{0, 1000}, {0, 1000}};
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_PROF, &often, nullptr), 0);
  Region region(kRegionBytes);
  while (signals < 3) region.reserve(0, kRegionBytes);
  setitimer(ITIMER_PROF, &never, nullptr);
  sigaction(SIGPROF, &before, nullptr);
  EXPECT_GE(bytes_in_memory(region), static_cast<off_t>(kRegionBytes));
}

}  // namespace
}  // namespace fenix_test
