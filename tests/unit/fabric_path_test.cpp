// SPDX-License-Identifier: BSD-3-Clause
// The path of libfabric. Each rank is a thread with an endpoint of its own; what they write goes through the network's
// own host.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/fault.hpp"
#include "rma/fabric/fabric.hpp"
#include "support/simulated_job.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Error;
using fenix_impl::FabricNetwork;
using fenix_impl::make_fabric_path;
using fenix_impl::open_fabric;
using fenix_impl::Region;
using fenix_impl::RemotePart;
using fenix_impl::RemoteRegions;

constexpr std::size_t kStart = Region::kHeaderBytes;
constexpr std::size_t kBytes = std::size_t{8} << 20;

// The library's time-out in seconds: one test waits for it.
constexpr int kTimeout = 10;
const bool timeout_is_short = setenv("FENIX_TIMEOUT", std::to_string(kTimeout).c_str(), 1) == 0;

using Handlers = std::array<void (*)(int), NSIG>;

Handlers handlers() {
  Handlers found{};
  struct sigaction action {};
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigaction(signal, nullptr, &action) == 0) found[static_cast<std::size_t>(signal)] = action.sa_handler;
  }
  return found;
}

const Handlers kHandlersAtStart = handlers();

bool there_is_libfabric() {
  try {
    (void)open_fabric();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 2654435761U >> 7) + seed + i);
  return data;
}

bool holds(const Region& region, std::size_t offset, std::span<const std::byte> expected) {
  return std::ranges::equal(region.bytes().subspan(offset, expected.size()), expected);
}

std::uint64_t word_at(const Region& region, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(region.bytes().data() + offset)).load();
}

/// The state that the ranks of a job keep from one phase to the next.
class FabricPath : public testing::Test {
 protected:
  struct Process {
    std::shared_ptr<FabricNetwork> network;
    Region region;
    std::unique_ptr<RemoteRegions> peers;
    std::unique_ptr<RemoteRegions> old_peers;
  };

  void SetUp() override {
    if (!there_is_libfabric()) GTEST_SKIP() << "there is no libfabric";
    start(3);
  }

  /// Makes the processes of a job of so many ranks.
  void start(int ranks) {
    processes_.clear();
    for (int i = 0; i < ranks; ++i) processes_.push_back(new_process());
  }
  static Process new_process() {
    Process process{open_fabric(), Region(kBytes), nullptr, nullptr};
    process.region.reserve(0, kStart + kBytes);
    return process;
  }
  Process& process(const Rank& rank) { return processes_.at(static_cast<std::size_t>(rank.origin)); }

  /// Collective over the team of the job.
  RemoteRegions& expose(Rank& rank) {
    Process& own = process(rank);
    own.peers = make_fabric_path(own.network)->expose(*rank.team, own.region);
    return *own.peers;
  }

  // Each rank writes to each, itself included, from its own region and from elsewhere, and reads that back.
  void write_and_read(Rank& rank, std::size_t bytes) {
    RemoteRegions& peers = expose(rank);
    const Region& region = process(rank).region;
    const int ranks = rank.team->size();
    const std::size_t room = kBytes / 8;
    const auto place = [&](int from, bool own) {
      return kStart + (static_cast<std::size_t>(2 * from) + (own ? 1 : 0)) * room;
    };
    const auto mine = pattern(bytes, static_cast<unsigned>(rank.number));
    std::copy(mine.begin(), mine.end(), region.bytes().data() + kStart + 6 * room);
    const auto own = region.bytes().subspan(kStart + 6 * room, bytes);
    for (int target = 0; target < ranks; ++target) {
      peers.put(target, place(rank.number, false), mine);
      peers.put(target, place(rank.number, true), own);
    }
    for (int target = 0; target < ranks; ++target) peers.flush(target);
    rank.team->barrier();
    for (int from = 0; from < ranks; ++from) {
      const auto expected = pattern(bytes, static_cast<unsigned>(from));
      EXPECT_TRUE(holds(region, place(from, false), expected)) << bytes;
      EXPECT_TRUE(holds(region, place(from, true), expected)) << bytes;
      std::vector<std::byte> got(bytes);
      peers.get((rank.number + 1) % ranks, place(from, false), got);
      EXPECT_TRUE(got == expected) << bytes;
    }
    rank.team->barrier();
  }

  void expect_all_done(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.ending, Ending::done) << outcome;
  }

  std::vector<Process> processes_;
};

TEST_F(FabricPath, WhatIsPutIsInTheMemoryOfTheTarget) {
  for (const std::size_t bytes : {0U, 1U, 8U, 4097U, 1U << 20, (1U << 20) - 3, 777777U}) {
    Job job(3);
    expect_all_done(job.run([&](Rank& rank) { write_and_read(rank, bytes); }));
  }
}

TEST_F(FabricPath, WritesOfSeveralPieces) {
  Job job(2);
  const auto data = pattern((std::size_t{5} << 20) + 13, 3);
  expect_all_done(job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    const int other = 1 - rank.number;
    peers.put(other, kStart + 1, data);
    peers.flush(other);
    rank.team->barrier();
    EXPECT_TRUE(holds(process(rank).region, kStart + 1, data));
    std::vector<std::byte> got(data.size());
    peers.get(other, kStart + 1, got);
    EXPECT_TRUE(got == data);
    rank.team->barrier();
  }));
}

// More of them than are under way at once, of each rank, in no order.
TEST_F(FabricPath, ReadsOfManyParts) {
  constexpr std::size_t kParts = 60;
  Job job(3);
  expect_all_done(job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    const auto bytes_of = [](int of) { return pattern(std::size_t{3} << 20, static_cast<unsigned>(of)); };
    const auto mine = bytes_of(rank.number);
    std::copy(mine.begin(), mine.end(), process(rank).region.bytes().data() + kStart);
    rank.team->barrier();
    std::vector<std::vector<std::byte>> got;
    std::vector<RemotePart> parts;
    for (std::size_t i = 0; i < kParts; ++i) got.emplace_back(i % 7 == 0 ? 0 : i * 1237);
    got[5].resize((std::size_t{2} << 20) + 1);
    for (std::size_t i = 0; i < kParts; ++i) {
      parts.push_back({static_cast<int>(i) % 3, kStart + (kParts - i) * 4099, got[i]});
    }
    peers.get_all(parts);
    for (std::size_t i = 0; i < kParts; ++i) {
      const auto all = bytes_of(static_cast<int>(i) % 3);
      EXPECT_TRUE(
          std::equal(got[i].begin(), got[i].end(), all.begin() + static_cast<std::ptrdiff_t>((kParts - i) * 4099)))
          << i;
    }
    rank.team->barrier();
  }));
}

// Where ranks are is found by way of others, at most once each: in one read for each step of a power of two but the first.
TEST_F(FabricPath, EachRankFindsEach) {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 11}) {
    start(ranks);
    Job job(ranks);
    expect_all_done(job.run([&](Rank& rank) {
      RemoteRegions& peers = expose(rank);
      const auto place = [](int from) { return kStart + static_cast<std::size_t>(from) * 8; };
      const auto value = [&](int from, int to) { return static_cast<std::uint64_t>(1000 * from + to); };
      for (int i = 0; i < ranks; ++i) {
        const int target = (rank.number + i) % ranks;
        peers.put_word(target, place(rank.number), value(rank.number, target));
      }
      rank.team->barrier();
      for (int from = 0; from < ranks; ++from) {
        EXPECT_EQ(word_at(process(rank).region, place(from)), value(from, rank.number)) << ranks << " " << from;
      }
      rank.team->barrier();
    }));
  }
}

TEST_F(FabricPath, FindingOthersTakesFewReads) {
  constexpr int kRanks = 12;
  constexpr std::uint64_t kPlace = 24;
  start(kRanks);
  Job job(kRanks);
  expect_all_done(job.run([&](Rank& rank) {
    const auto path = make_fabric_path(process(rank).network);
    const auto first = path->expose(*rank.team, process(rank).region);
    const auto second = path->expose(*rank.team, process(rank).region);
    const auto reads_of = [&](RemoteRegions& peers, int distance) {
      const std::uint64_t before = path->bytes_fetched();
      peers.put_word((rank.number + distance) % kRanks, kStart, 1);
      return path->bytes_fetched() - before;
    };
    EXPECT_EQ(reads_of(*first, 4), 2 * kPlace) << "a neighbour: where its places are, and the place";
    EXPECT_EQ(reads_of(*first, 4), 0U);
    EXPECT_EQ(reads_of(*second, 4), kPlace);
    EXPECT_EQ(reads_of(*second, 11), 2 * kPlace) << "the neighbour before";
    const std::uint64_t one_step = reads_of(*first, 5) - 2 * kPlace;
    EXPECT_GT(one_step, 0U);
    EXPECT_LT(one_step, 200U);
    EXPECT_EQ(reads_of(*first, 6), 2 * kPlace + one_step);
    EXPECT_EQ(reads_of(*second, 6), kPlace);
    rank.team->barrier();
  }));
}

TEST_F(FabricPath, ManyRegions) {
  constexpr int kRegions = 200;
  Job job(2);
  expect_all_done(job.run([&](Rank& rank) {
    const auto path = make_fabric_path(process(rank).network);
    std::vector<Region> regions;
    std::vector<std::unique_ptr<RemoteRegions>> peers;
    for (std::size_t i = 0; i < kRegions; ++i) {
      regions.emplace_back(std::size_t{1} << 12);
      regions.back().reserve(0, regions.back().bytes().size());
      peers.push_back(path->expose(*rank.team, regions.back()));
    }
    for (std::size_t i = 0; i < kRegions; ++i) peers[i]->put_word(1 - rank.number, kStart, 100 + i);
    rank.team->barrier();
    for (std::size_t i = 0; i < kRegions; ++i) EXPECT_EQ(word_at(regions[i], kStart), 100 + i);
    rank.team->barrier();
  }));
}

#ifdef FENIX_FAULT_INJECTION
thread_local int until_refusal = -1;

bool registration_fails(const char* point) {
  return point == std::string_view("fabric.register") && until_refusal-- == 0;
}

// One rank cannot register its region, or its part of the directory: none has an remote, and the next one is as good as ever.
TEST_F(FabricPath, RefusalOfOneRankIsOneOfAll) {
  fenix_impl::set_fault_hook(registration_fails);
  for (const int which : {0, 1, 2}) {  // the directory, the region, the first page of places
    Job job(3);
    expect_all_done(job.run([&](Rank& rank) {
      const auto path = make_fabric_path(process(rank).network);
      const auto expose_is_refused = [&](int after) {
        if (rank.number == 1) until_refusal = after;
        try {
          (void)path->expose(*rank.team, process(rank).region);
          ADD_FAILURE() << "exposed, " << which << " " << after;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), FENIX_ERROR_NO_MEMORY);
          EXPECT_EQ(std::string(error.what()).find("rank 1") != std::string::npos, rank.number != 1) << error.what();
        }
        until_refusal = -1;
      };
      const auto expose_is_good = [&](std::uint64_t value) {
        const auto peers = path->expose(*rank.team, process(rank).region);
        for (int target = 0; target < 3; ++target) peers->put_word(target, kStart, value);
        rank.team->barrier();
        EXPECT_EQ(word_at(process(rank).region, kStart), value);
        rank.team->barrier();
      };
      expose_is_refused(which);
      expose_is_good(7);
      expose_is_refused(0);
      expose_is_good(8);
    }));
  }
  fenix_impl::set_fault_hook(nullptr);
}
#endif

TEST_F(FabricPath, ManyWritesAtOnceEndByThemselves) {
  constexpr std::size_t kWrites = 2000;
  constexpr std::size_t kEach = 1000;
  Job job(3);
  expect_all_done(job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    const Region& region = process(rank).region;
    const auto mine = pattern(kWrites * kEach, static_cast<unsigned>(rank.number));
    std::copy(mine.begin(), mine.end(), region.bytes().data() + kStart);
    const int next = (rank.number + 1) % 3;
    for (std::size_t i = 0; i < kWrites; ++i) {
      const auto from_own = region.bytes().subspan(kStart + i * kEach, kEach);
      peers.put(next, kStart + (kBytes / 2) + i * kEach, from_own);
    }
    const auto path = make_fabric_path(process(rank).network);
    while (!peers.is_flushed(next)) EXPECT_TRUE(path->make_progress());
    rank.team->barrier();
    const auto expected = pattern(kWrites * kEach, static_cast<unsigned>((rank.number + 2) % 3));
    EXPECT_TRUE(holds(region, kStart + kBytes / 2, expected));
    rank.team->barrier();
  }));
}

// The target looks at its memory only. Bytes that were written before the word are there when the word is.
TEST_F(FabricPath, WordComesLastAndNeedsNoHelpOfTheTarget) {
  Job job(2);
  const auto data = pattern(3000001, 9);
  expect_all_done(job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    const Region& region = process(rank).region;
    const auto rounds = static_cast<std::uint64_t>(20 / stride(1, 4));
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      if (rank.number == 0) {
        peers.put(1, kStart + 8, data);
        peers.put_word(1, kStart, round);
      } else {
        const auto begin = std::chrono::steady_clock::now();
        while (word_at(region, kStart) != round) {
          std::this_thread::yield();
          ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
        }
        EXPECT_TRUE(holds(region, kStart + 8, data));
        std::memset(region.bytes().data() + kStart + 8, 0, data.size());
      }
      rank.team->barrier();
    }
  }));
}

TEST_F(FabricPath, AccessBeyondARegionIsRefused) {
  Job job(2);
  processes_[1].region = Region(kBytes + 1000);
  expect_all_done(job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    const std::size_t end = kBytes + kStart;
    std::array<std::byte, 16> bytes{};
    EXPECT_NO_THROW(peers.put(0, end - 16, bytes));
    EXPECT_NO_THROW(peers.put(0, end, std::span(bytes).first(0)));
    EXPECT_NO_THROW(peers.put(1, end - 15, bytes)) << "the other region is larger";
    EXPECT_THROW(peers.put(0, end - 15, bytes), Error);
    EXPECT_THROW(peers.get(0, end - 15, bytes), Error);
    EXPECT_THROW(peers.put_word(0, end, 1), Error);
    EXPECT_THROW(peers.put(0, ~std::size_t{0}, bytes), Error);
    peers.flush(0);
    peers.flush(1);
    rank.team->barrier();
  }));
}

// The same memory, exposed once more after a death. Writes through the old remote regions do not get there. They do not
// disturb writes through the new one either, though they break the connection that both use.
TEST_F(FabricPath, WritesOfBeforeARepairAreRefused) {
  Job job(3);
  const auto good = pattern(2000000, 2);
  expect_all_done(job.run([&](Rank& rank) {
    (void)expose(rank);
    process(rank).region.bytes()[kStart] = std::byte{77};
    rank.team->barrier();
    if (rank.number == 0) process(rank).peers->put_word(1, kStart + kBytes / 2 - 16, 1);  // so it knows where it is
    rank.team->barrier();
  }));
  std::vector<std::shared_ptr<ThreadTeam>> old_teams{job.rank(0).team, job.rank(1).team};
  job.kill(2);
  job.shrink();
  expect_all_done(job.run([&](Rank& rank) {
    Process& own = process(rank);
    own.old_peers = std::move(own.peers);
    if (rank.number == 1) own.old_peers.reset();
    RemoteRegions& peers = expose(rank);
    rank.team->barrier();
    if (rank.number == 0) {
      for (int round = 0; round < 5; ++round) {
        own.old_peers->put(1, kStart, own.region.bytes().subspan(kStart + 5, 2000000));
        peers.put(1, kStart + kBytes / 2, good);
        peers.flush(1);
        peers.put_word(1, kStart + kBytes / 2 - 8, 5);
      }
      EXPECT_FALSE(own.old_peers->is_flushed(1));
      own.old_peers.reset();
    }
    rank.team->barrier();
    if (rank.number == 1) {
      EXPECT_EQ(own.region.bytes()[kStart], std::byte{77});
      EXPECT_TRUE(holds(own.region, kStart + kBytes / 2, good));
    }
    rank.team->barrier();
  }));
}

// A rank deletes a member before the others do: what they still write to it does no harm, and is no error.
TEST_F(FabricPath, RemoteRegionsThatHaveEndedIsWrittenToAsLongAsThePathIsThere) {
  Job job(2);
  const auto data = pattern(100000, 4);
  expect_all_done(job.run([&](Rank& rank) {
    const auto path = make_fabric_path(process(rank).network);
    auto peers = path->expose(*rank.team, process(rank).region);
    if (rank.number == 1) peers.reset();
    rank.team->barrier();
    if (rank.number == 0) {
      peers->put(1, kStart, data);
      peers->flush(1);
    }
    rank.team->barrier();
  }));
}

/// A region that the test gives up while it is exposed, as a group does with one that was outgrown.
struct GivenUp {
  Region region{kBytes};
  std::span<std::byte> bytes = region.bytes();
  int descriptor = region.address().fd;
  ino_t file = file_behind();

  [[nodiscard]] ino_t file_behind() const {
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
  }
  /// Whether its memory is as it was, or at least its addresses are. Another file may have got the descriptor.
  [[nodiscard]] bool is_kept() const { return file_behind() == file; }
};

// Memory of which all have destroyed the remote regions is given back. As long as one has them, it goes on writing there.
TEST_F(FabricPath, MemoryIsGivenBackWhenNobodyUsesIt) {
  Job job(2);
  const auto data = pattern(100000, 4);
  expect_all_done(job.run([&](Rank& rank) {
    const auto path = make_fabric_path(process(rank).network);
    GivenUp first;
    auto peers = path->expose(*rank.team, first.region);
    auto others = path->expose(*rank.team, process(rank).region);
    peers->put(1 - rank.number, kStart, data);
    peers->flush(1 - rank.number);
    rank.team->barrier();
    first.region = Region();
    EXPECT_FALSE(path->has_kept_memory());
    if (rank.number == 1) peers.reset();
    EXPECT_EQ(path->has_kept_memory(), rank.number == 1);
    path->give_back(*rank.team);
    EXPECT_TRUE(first.is_kept());
    if (rank.number == 0) {
      peers->put(1, kStart + 200000, data);
      peers->flush(1);
      peers.reset();
    }
    rank.team->barrier();
    if (rank.number == 1) {
      EXPECT_TRUE(std::ranges::equal(first.bytes.subspan(kStart + 200000, data.size()), data));
    }
    path->give_back(*rank.team);
    EXPECT_FALSE(first.is_kept());
    EXPECT_FALSE(path->has_kept_memory());
    others->put(1 - rank.number, kStart, data);
    others->flush(1 - rank.number);
    rank.team->barrier();
    EXPECT_TRUE(holds(process(rank).region, kStart, data));
    rank.team->barrier();
  }));
}

// A provider may be in the midst of a write when the key is withdrawn: it must not meet other memory there.
TEST_F(FabricPath, AddressesStayTakenWhereAWriteIsUnderWay) {
  Job job(2);
  expect_all_done(job.run([&](Rank& rank) {
    const auto path = make_fabric_path(process(rank).network);
    GivenUp given_up;
    given_up.region.reserve(0, kStart + kBytes);
    auto peers = path->expose(*rank.team, given_up.region);
    peers->put_word(1 - rank.number, kStart, 1);
    peers->flush(1 - rank.number);
    rank.team->barrier();
    // Ends are noticed in calls only, so that this is under way until the next one.
    if (rank.number == 0) peers->put(1, kStart, given_up.region.bytes().subspan(kStart, kBytes / 2));
    given_up.region = Region();
    peers.reset();
    path->give_back(*rank.team);
    EXPECT_FALSE(given_up.is_kept());
    std::vector<unsigned char> pages(given_up.bytes.size() / 4096 + 1);
    EXPECT_EQ(mincore(given_up.bytes.data(), given_up.bytes.size(), pages.data()), 0) << "it is not mapped";
    rank.team->barrier();
  }));
}

TEST_F(FabricPath, ReplacementIsReached) {
  Job job(3);
  expect_all_done(job.run([&](Rank& rank) { write_and_read(rank, 10000); }));
  for (int round = 0; round < 3; ++round) {
    job.kill(1);
    processes_[1] = new_process();
    job.repair();
    expect_all_done(job.run([&](Rank& rank) { write_and_read(rank, 300000); }));
  }
}

// The peer's endpoint is gone, and the team gets to know.
TEST_F(FabricPath, DeathOfThePeerEndsTheWait) {
  Job job(2);
  const auto data = pattern(kBytes, 1);
  std::atomic<bool> gone = false;
  const auto outcomes = job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    rank.team->barrier();
    if (rank.number == 1) {
      process(rank).peers.reset();
      process(rank).network.reset();
      gone = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      job.crew().kill(1);
      throw Death{};
    }
    while (!gone) std::this_thread::yield();
    peers.put(1, kStart, data);
    peers.flush(1);
  });
  EXPECT_EQ(outcomes[0].ending, Ending::failure_seen) << outcomes[0];
}

// The peer's endpoint is gone, but nobody says that it has died: that is an error, after some seconds.
TEST_F(FabricPath, PeerThatCannotBeReachedIsAnError) {
  Job job(2);
  std::atomic<bool> gone = false;
  const auto outcomes = job.run([&](Rank& rank) {
    RemoteRegions& peers = expose(rank);
    std::array<std::byte, 16> bytes{};
    peers.put(1 - rank.number, kStart, bytes);
    peers.flush(1 - rank.number);
    rank.team->barrier();
    if (rank.number == 1) {
      process(rank).peers.reset();
      process(rank).network.reset();
      gone = true;
      return;
    }
    while (!gone) std::this_thread::yield();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(
        {
          peers.put(1, kStart, bytes);
          peers.flush(1);
        },
        Error);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(kTimeout + 3));
  });
  EXPECT_EQ(outcomes[0].ending, Ending::done) << outcomes[0];
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(FabricPath, TakesLittleMemory) {
  const std::size_t before = resident_bytes();
  const auto network = open_fabric();
  if (provider_of(*network).find("ofi_rxm") == std::string::npos)
    GTEST_SKIP() << "without ofi_rxm the memory is the provider's own";
  EXPECT_LT(resident_bytes(), before + (std::size_t{32} << 20));
}

// In a process of its own, as ctest runs it, this is where libfabric is loaded.
TEST_F(FabricPath, SignalHandlersStay) { EXPECT_EQ(handlers(), kHandlersAtStart); }

/// Rules of registration that tcp does not ask for.
class FabricRules : public FabricPath, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    setenv("FENIX_FABRIC_MR_MODE", GetParam(), 1);
    FabricPath::SetUp();
  }
  void TearDown() override { unsetenv("FENIX_FABRIC_MR_MODE"); }
};

TEST_P(FabricRules, AreKept) {
  Job job(3);
  expect_all_done(job.run([&](Rank& rank) { write_and_read(rank, 1000003); }));
}

INSTANTIATE_TEST_SUITE_P(, FabricRules, testing::Values("local", "basic", "basic,local"));

}  // namespace
}  // namespace fenix_test
