// SPDX-License-Identifier: BSD-3-Clause
// Staging: values are taken at that moment, from a buffer, through a file, or in the slot itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "support/partial_job.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Found;
using fenix_impl::IntervalSet;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::Selection;

TEST(Staging, TakesTheValuesOfThatMoment) {
  PartialJob job(2, 0, 50);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {10, 30}, 1);
    rank.group->staging().stage(member_of(rank), Selection::some({10, 30}));
    std::fill(rank.buffers[kMember].begin(), rank.buffers[kMember].end(), 0U);
    store_elements(rank, kMember, Selection::staged());
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 50, "staged");
  }));
}

TEST(Staging, WithoutStoreIsCaughtByTheCommit) {
  PartialJob job(2, 0, 50);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 50}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    rank.buffers[kMember][3] = 0;
    rank.group->staging().stage(member_of(rank), Selection::some({3, 4}));
  }));
  expect_error(job.run([](Rank& rank) { rank.group->commit(); }), FENIX_ERROR_INVALID_LOGIC_CALL);
  expect_done(job.run([&](Rank& rank) {
    expect_elements(rank, job.model(rank), kLatest, 50, "before the store");
    change(rank, job.model(rank), {3, 4}, 2);
    store_elements(rank, kMember, Selection::some({3, 4}));
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 50, "the store has replaced what was staged");
  }));
}

TEST(Staging, OfAMemberThatGrows) {
  PartialJob job(3, 1, FENIX_RESIZEABLE, 5000);
  expect_done(job.run([&](Rank& rank) {
    for (unsigned stamp = 0; stamp < 6; ++stamp) {
      // Much on some ranks, nothing on others, more and less from time to time.
      const std::uint64_t size = (stamp * 37U + static_cast<unsigned>(rank.number) * 700U) * (stamp % 3) % 4000;
      job.model(rank).clear();
      change(rank, job.model(rank), {0, size}, stamp);
      rank.group->staging().stage(member_of(rank), Selection::some({0, size / 2}));
      rank.group->staging().stage(member_of(rank), Selection::some({size / 2, size}));
      std::fill(rank.buffers[kMember].begin(), rank.buffers[kMember].end(), 0U);
      store_elements(rank, kMember, Selection::staged());
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, size, "grown");
      EXPECT_EQ(fenix_impl::size_of(rank.group->log(), member_of(rank)), size);
    }
  }));
}

TEST(Staging, ThroughAFile) {
  for (const std::uint64_t count : {std::uint64_t{FENIX_RESIZEABLE}, std::uint64_t{1000}}) {
    PartialJob job(2, 0, count, 1000);
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {0, 1000}, 4);
      std::FILE* file = rank.group->staging().open(member_of(rank));
      ASSERT_EQ(std::fwrite(rank.buffers[kMember].data(), 4, 400, file), 400U);
      ASSERT_EQ(std::fwrite(rank.buffers[kMember].data() + 400, 4, 600, file), 600U);
      if (count > 0) {
        EXPECT_EQ(std::fputc('x', file), EOF) << "beyond the member";
        EXPECT_EQ(errno, ENOSPC);
      }
    }));
    if (count > 0) {
      expect_error(job.run([](Rank& rank) { rank.group->staging().close(member_of(rank)); }),
                   FENIX_ERROR_INVALID_ARGUMENT);
      continue;
    }
    expect_done(job.run([&](Rank& rank) {
      rank.group->staging().close(member_of(rank));
      store_elements(rank, kMember, Selection::staged());
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, 1000, "written");
      Found found;
      std::FILE* file = rank.group->restores().open(member_of(rank), kLatest, found);
      Words read(1000);
      EXPECT_EQ(std::fread(read.data(), 4, 2000, file), 1000U);
      EXPECT_EQ(read[999], job.model(rank)[999]);
      (void)member_of(rank).close_file();
    }));
  }
}

// -------------------------------------------------------------------------------------------------------- asynchronous

// Alone: there is no other copy from which a damaged one could be mended.
TEST(Staging, FileThatIsRefusedChangesNothing) {
  PartialJob job(1, 0, 100);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 100}, 1);
    store_elements(rank, kMember, Selection::all());
    for (const std::size_t bytes : {std::size_t{3}, std::size_t{401}}) {
      std::FILE* file = rank.group->staging().open(member_of(rank));
      const std::vector<char> junk(bytes, 'x');
      (void)std::fwrite(junk.data(), 1, bytes, file);
      EXPECT_THROW(rank.group->staging().close(member_of(rank)), fenix_impl::Error);
    }
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100, "after files that were refused");
  }));
}

TEST(Staging, FileOverWhatWasStoredAndStaged) {
  PartialJob job(2, 0, 100);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 50}, 1);
    store_elements(rank, kMember, Selection::some({0, 50}));
    change(rank, job.model(rank), {20, 30}, 2);
    rank.group->staging().stage(member_of(rank), Selection::some({20, 30}));
    std::FILE* file = rank.group->staging().open(member_of(rank));
    change(rank, job.model(rank), {0, 10}, 3);
    EXPECT_EQ(std::fwrite(rank.buffers[kMember].data(), sizeof(std::uint32_t), 10, file), 10U);
    rank.group->staging().close(member_of(rank));
    store_elements(rank, kMember, Selection::staged());
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100, "a file over other elements");
  }));
}

/// Steps of all kinds, in which the application writes to slots and stages what it likes of that; then a rank dies.
void write_to_slots(const Policy& policy, int depth, bool hashing, std::uint32_t seed) {
  constexpr std::uint64_t kCount = 40'000;
  constexpr std::uint32_t kJunk = 0xdeadbeef;
  PartialJob job(4, depth, kCount, 0, policy);
  expect_done(job.run([&](Rank& rank) {
    rank.group->policy_change().set_hashing(hashing, [] {});
    // Ranks do the same things, to different elements.
    std::mt19937 steps(seed);
    std::mt19937 places(seed + 1 + static_cast<std::uint32_t>(rank.number));
    const auto some = [&] {
      const std::uint64_t first = places() % kCount;
      return IntervalSet(first, std::min<std::uint64_t>(kCount, first + 1 + places() % (kCount / 3)));
    };
    for (std::uint32_t step = 0; step < 9; ++step) {
      Member& member = member_of(rank);
      const bool from_buffer_first = steps() % 3 == 0;
      const bool writes = steps() % 5 != 0;
      const bool stages = step == 0 || steps() % 3 != 0;
      if (from_buffer_first) {
        const IntervalSet elements = some();
        change(rank, job.model(rank), elements, 100 + step);
        store_elements(rank, kMember, Selection::some(elements));
      }
      if (writes) {
        auto* area = reinterpret_cast<std::uint32_t*>(rank.group->staging().staging_area(member).data());
        const IntervalSet stored = member.working().stored();
        // Stored elements stay as they are, or are stored again.
        const IntervalSet junk = some() - stored;
        for (const auto& each : junk.intervals()) std::fill(area + each.first, area + each.end, kJunk);
        const IntervalSet elements = step == 0 ? IntervalSet(0, kCount) : some();
        if (stages) {
          change(rank, job.model(rank), elements, step);
          for (const auto& each : elements.intervals()) {
            std::copy(rank.buffers[kMember].begin() + static_cast<std::ptrdiff_t>(each.first),
                      rank.buffers[kMember].begin() + static_cast<std::ptrdiff_t>(each.end), area + each.first);
          }
          EXPECT_TRUE(rank.group->staging().is_staging_area(member, area));
          rank.group->staging().stage_from(member, area, Selection::some(elements));
          store_elements(rank, kMember, Selection::staged());
        }
      }
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, kCount, "written to the slot");
      if (step % 4 == 3) {
        const auto verified = rank.group->verify_all();
        EXPECT_EQ(verified.mended, 0U) << "step " << step;
        EXPECT_EQ(verified.lost, 0U) << "step " << step;
      }
    }
  }));
  job.kill(1);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, kCount, "rebuilt"); }));
}

TEST(Staging, IntoTheSlotItself) {
  using Kind = Policy::Kind;
  int kinds = 0;
  for (const Policy& policy : {Policy{Kind::buddies, 1, 0, 1}, Policy{Kind::ring, 1, 0, 1},
                               Policy{Kind::parity, 1, 4, 1}, Policy{Kind::reed_solomon, 1, 4, 2}}) {
    for (const int depth : {0, 2, kKeepAll}) {
      for (const bool hashing : {true, false}) {
        if (!hashing && depth != 0) continue;
        if (kinds++ % stride(1, 3) != 0) continue;
        SCOPED_TRACE(testing::Message() << "policy " << static_cast<int>(policy.kind) << ", depth " << depth
                                        << ", hashing " << hashing);
        write_to_slots(policy, depth, hashing, 7U + static_cast<std::uint32_t>(depth));
      }
    }
  }
}

TEST(Staging, MemoryOfAnotherSnapshotIsRefused) {
  PartialJob job(2, 1, 100);
  expect_done(job.run([&](Rank& rank) {
    Member& member = member_of(rank);
    const std::byte* const before = rank.group->staging().staging_area(member).data();
    change(rank, job.model(rank), {0, 100}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    EXPECT_THROW((void)rank.group->staging().is_staging_area(member, before), fenix_impl::Error);
    EXPECT_NE(rank.group->staging().staging_area(member).data(), before);
    EXPECT_FALSE(rank.group->staging().is_staging_area(member, rank.buffers[kMember].data()));
    EXPECT_THROW((void)rank.group->staging().is_staging_area(member, before), fenix_impl::Error);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100, "after a slot was given out for nothing");
  }));
}

}  // namespace
}  // namespace fenix_test
