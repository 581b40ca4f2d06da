// SPDX-License-Identifier: BSD-3-Clause
// A group while nobody dies: members, store, commit, restore, and errors that all ranks get.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "support/group_data.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::MemberInfo;
using fenix_impl::Policy;
using fenix_impl::Selection;

GroupParameters with_depth(int depth, int start = 0) { return {5, start, depth, {}}; }

// A job that has a group with the member kSmall.
class GroupJob : public Job {
 public:
  explicit GroupJob(int size, const GroupParameters& parameters = with_depth(0)) : Job(size) {
    expect_done(run([&](Rank& rank) {
      const auto result = join(rank, parameters);
      EXPECT_FALSE(result.existed);
      EXPECT_FALSE(result.snapshots_lost);
      provide(rank, kSmall);
    }));
  }

  // Snapshots with the time stamps from first to last.
  void make_snapshots(int first, int last) {
    expect_done(run([&](Rank& rank) {
      for (int stamp = first; stamp <= last; ++stamp) {
        store(rank, kSmall, stamp);
        EXPECT_EQ(rank.group->commit(), stamp);
      }
      rank.group->wait_for_commit_on_all();
    }));
  }
};

void expect_contents(Rank& rank, int member, int stamp, std::optional<int> asked_for = std::nullopt) {
  EXPECT_EQ(restore(rank, member, asked_for), contents(rank.number, member, stamp));
}

TEST(Group, RestoresWhatEachRankStored) {
  for (int size = 1; size <= 5; ++size) {
    SCOPED_TRACE(size);
    GroupJob job(size);
    expect_done(job.run([](Rank& rank) {
      provide(rank, kUneven);
      provide(rank, kLarge);
      for (const int member : {kSmall, kUneven, kLarge}) store(rank, member, 0);
      EXPECT_EQ(rank.group->commit(), 0);
      for (const int member : {kLarge, kSmall, kUneven}) expect_contents(rank, member, 0);
    }));
  }
}

TEST(Group, HasNothingToRestoreBeforeTheFirstCommit) {
  GroupJob job(3);
  expect_error(job.run([](Rank& rank) {
    store(rank, kSmall, 0);
    EXPECT_TRUE(rank.group->snapshots().on_all().empty());
    restore(rank, kSmall);
  }),
               FENIX_ERROR_NODATA_FOUND);
}

TEST(Group, KeepsAsManySnapshotsAsItIsDeep) {
  for (int depth = 0; depth <= 3; ++depth) {
    SCOPED_TRACE(depth);
    GroupJob job(3, with_depth(depth, 10));
    job.make_snapshots(10, 16);
    expect_done(job.run([&](Rank& rank) {
      std::vector<int> expected(static_cast<std::size_t>(depth) + 1);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 16 - static_cast<int>(i);
      EXPECT_EQ(rank.group->snapshots().on_all(), expected);
      for (const int stamp : expected) expect_contents(rank, kSmall, stamp, stamp);
      expect_contents(rank, kSmall, 16);
    }));
  }
}

TEST(Group, RestoresTheNewestSnapshotUpToATimeStamp) {
  GroupJob job(2, with_depth(1, 10));
  job.make_snapshots(10, 14);
  for (const int stamp : {0, 9, 10, 12}) {
    SCOPED_TRACE(stamp);
    expect_error(job.run([&](Rank& rank) { restore(rank, kSmall, stamp); }), FENIX_ERROR_NODATA_FOUND);
  }
  expect_error(job.run([](Rank& rank) { restore(rank, kSmall, -3); }), FENIX_ERROR_INVALID_TIMESTAMP);
  for (const int stamp : {15, FENIX_TIME_STAMP_MAX}) {
    SCOPED_TRACE(stamp);
    expect_done(
        job.run([&](Rank& rank) { EXPECT_EQ(restore(rank, kSmall, stamp), contents(rank.number, kSmall, 14)); }));
  }
}

TEST(Group, SecondStoreReplacesTheFirst) {
  GroupJob job(2);
  expect_done(job.run([](Rank& rank) {
    store(rank, kSmall, 50);
    store(rank, kSmall, 0);
    commit_barrier(rank);
    expect_contents(rank, kSmall, 0);
  }));
}

TEST(Group, WhatIsNotCommittedIsNotRestored) {
  GroupJob job(2);
  job.make_snapshots(0, 2);
  expect_done(job.run([](Rank& rank) {
    store(rank, kSmall, 3);
    expect_contents(rank, kSmall, 2);
  }));
}

TEST(Group, MemberThatWasNotStoredCarriesOn) {
  for (const int depth : {0, 2}) {
    SCOPED_TRACE(depth);
    GroupJob job(3, with_depth(depth));
    expect_done(job.run([&](Rank& rank) {
      provide(rank, kLarge);
      store(rank, kLarge, 0);
      for (int stamp = 0; stamp < 20; ++stamp) {
        store(rank, kSmall, stamp);
        rank.group->commit();
      }
      expect_contents(rank, kLarge, 0);
      expect_contents(rank, kSmall, 19);
      store(rank, kLarge, 20);
      commit_barrier(rank);
      expect_contents(rank, kLarge, 20);
      expect_contents(rank, kSmall, 19);
      if (depth > 0) expect_contents(rank, kLarge, 0, 19);
    }));
  }
}

TEST(Group, CommitWithoutStoreMakesASnapshot) {
  GroupJob job(2, with_depth(1));
  job.make_snapshots(0, 0);
  expect_done(job.run([](Rank& rank) {
    EXPECT_EQ(rank.group->commit(), 1);
    rank.group->wait_for_commit_on_all();
    expect_contents(rank, kSmall, 0, 1);
    expect_contents(rank, kSmall, 0, 0);
  }));
}

TEST(Group, MemberThatWasNeverStoredHasNoData) {
  GroupJob job(2);
  job.make_snapshots(0, 0);
  expect_error(job.run([](Rank& rank) {
    provide(rank, kLarge);
    restore(rank, kLarge);
  }),
               FENIX_ERROR_NODATA_FOUND);
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, 0); }));
}

TEST(Group, PlainCommitsRunAhead) {
  GroupJob job(2);
  job.make_snapshots(0, 0);
  expect_done(job.run([](Rank& rank) {
    // No rank waits for the other: rank 1 does nothing.
    if (rank.number == 1) return;
    store(rank, kSmall, 1);
    for (int stamp = 1; stamp < 6; ++stamp) EXPECT_EQ(rank.group->commit(), stamp);
    EXPECT_EQ(rank.group->snapshots().on_all(), std::vector<int>{0})
        << "only what all ranks have committed is consistent";
  }));
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, 0); }));
  expect_done(job.run([](Rank& rank) {
    if (rank.number == 1) {
      store(rank, kSmall, 1);
      rank.group->commit();
      rank.group->commit();
    }
    rank.team->barrier();
    EXPECT_EQ(rank.group->snapshots().on_all(), std::vector<int>{2});
    expect_contents(rank, kSmall, 1, 2);
  }));
}

TEST(Group, AlwaysHasASnapshotWhileOthersCatchUp) {
  GroupJob job(2);
  job.make_snapshots(0, 0);
  std::atomic<bool> ahead = false;
  expect_done(job.run([&](Rank& rank) {
    for (int round = 0; round < 100; ++round) {
      if (rank.number == 0) {
        for (int i = 0; i < 4; ++i) rank.group->commit();
        ahead = true;
        // Rank 1 commits meanwhile.
        std::size_t least = 1;
        while (ahead) least = std::min(least, rank.group->snapshots().on_all().size());
        EXPECT_EQ(least, 1U) << "round " << round;
      } else {
        while (!ahead) std::this_thread::yield();
        for (int i = 0; i < 4; ++i) rank.group->commit();
        ahead = false;
      }
    }
  }));
}

TEST(Group, RanksOfDifferentSpeedWaitForEachOther) {
  for (const int depth : {0, 1, 3}) {
    SCOPED_TRACE(depth);
    GroupJob job(4, with_depth(depth));
    expect_done(job.run([](Rank& rank) {
      std::mt19937 random(static_cast<unsigned>(rank.number));
      for (int stamp = 0; stamp < 60; ++stamp) {
        if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (random() % 3 != 0) store(rank, kSmall, stamp);
        EXPECT_EQ(rank.group->commit(), stamp);
      }
      store(rank, kSmall, 60);
      rank.group->commit();
      expect_contents(rank, kSmall, 60);
    }));
  }
}

TEST(Group, CommitBarrierWaitsForAllRanks) {
  GroupJob job(4);
  std::atomic<int> committing = 0;
  expect_done(job.run([&](Rank& rank) {
    for (int round = 1; round <= 20; ++round) {
      store(rank, kSmall, round);
      ++committing;
      commit_barrier(rank);
      EXPECT_GE(committing, 4 * round);
      EXPECT_EQ(rank.group->snapshots().on_all().size(), 1U);
    }
  }));
}

TEST(Group, TimeStampsRunOut) {
  GroupJob job(2, with_depth(0, FENIX_TIME_STAMP_MAX - 1));
  job.make_snapshots(FENIX_TIME_STAMP_MAX - 1, FENIX_TIME_STAMP_MAX);
  expect_error(job.run([](Rank& rank) { rank.group->commit(); }), FENIX_ERROR_INVALID_TIMESTAMP);
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, FENIX_TIME_STAMP_MAX); }));
}

TEST(Group, StoreNeedsASourceBuffer) {
  GroupJob job(2);
  expect_error(job.run([](Rank& rank) {
    rank.group->definition().create_member(words(kLarge), nullptr, 10, [] {});
    store_elements(rank, kLarge, Selection::all());
  }),
               FENIX_ERROR_INVALID_ARGUMENT);
}

TEST(Group, RestoreWithoutTargetTakesPart) {
  GroupJob job(3);
  job.make_snapshots(0, 0);
  expect_done(job.run([](Rank& rank) {
    if (rank.number == 1) {
      (void)rank.group->restore(kSmall, {}, {}, [] {});
    } else {
      expect_contents(rank, kSmall, 0);
    }
  }));
}

TEST(Group, BufferThatIsTooSmallOnOneRankIsAnErrorOnAll) {
  GroupJob job(3);
  job.make_snapshots(0, 0);
  expect_error(job.run([](Rank& rank) {
    Words target(count_of(rank.number, kSmall), 1);
    const std::uint64_t most = target.size() - (rank.number == 1 ? 1 : 0);
    try {
      (void)rank.group->restore(kSmall, {}, {target.data(), most}, [] {});
    } catch (...) {
      EXPECT_EQ(target, Words(target.size(), 1)) << "the target is as it was";
      throw;
    }
  }),
               FENIX_ERROR_BUFFER_TOO_SMALL);
}

TEST(Group, ArgumentThatIsWrongOnOneRankIsAnErrorOnAll) {
  GroupJob job(3);
  const auto outcomes = job.run([](Rank& rank) {
    rank.group->definition().create_member(words(kLarge), nullptr, 0, [&] {
      if (rank.number == 1) throw fenix_impl::Error(FENIX_ERROR_INVALID_MEMBERID, "wrong on purpose");
    });
  });
  expect_error(outcomes, FENIX_ERROR_INVALID_MEMBERID);
  EXPECT_EQ(outcomes[1].text, "wrong on purpose");
  for (const std::size_t rank : {0U, 2U}) EXPECT_EQ(outcomes[rank].text, "rank 1: wrong on purpose");
  for (Rank& rank : job.ranks()) EXPECT_EQ(rank.group->find(kLarge), nullptr);
}

TEST(Group, MemberExistsOnce) {
  GroupJob job(2);
  job.make_snapshots(0, 0);
  expect_error(job.run([](Rank& rank) { rank.group->definition().create_member(words(kSmall), nullptr, 1, [] {}); }),
               FENIX_ERROR_MEMBER_EXISTS);
  expect_done(job.run([](Rank& rank) {
    EXPECT_EQ(rank.group->members().size(), 1U);
    expect_contents(rank, kSmall, 0);
  }));
}

TEST(Group, UnknownMemberCannotBeRestored) {
  GroupJob job(2);
  job.make_snapshots(0, 0);
  expect_error(job.run([](Rank& rank) { restore(rank, kLarge); }), FENIX_ERROR_INVALID_MEMBERID);
}

TEST(GroupMismatch, OfGroupParametersLeavesNoGroup) {
  const GroupParameters wrong[] = {{6, 0, 0, {}},
                                   {5, 1, 0, {}},
                                   {5, 0, 1, {}},
                                   {5, 0, 0, {Policy::Kind::buddies, 2}},
                                   {5, 0, 0, {Policy::Kind::ring, 1}}};
  for (const GroupParameters& parameters : wrong) {
    Job job(3);
    expect_error(job.run([&](Rank& rank) { join(rank, rank.number == 1 ? parameters : with_depth(0)); }),
                 FENIX_ERROR_MISMATCH);
    for (Rank& rank : job.ranks()) EXPECT_EQ(rank.group, nullptr);
  }
}

TEST(GroupMismatch, OfMembersIsFound) {
  const auto longs = std::make_shared<const fenix_impl::ElementType>(fenix_impl::ElementType::plain(8));
  const MemberInfo wrong[] = {words(kUneven), {kLarge, false, {}, longs}};
  for (const MemberInfo& info : wrong) {
    GroupJob job(3);
    expect_error(job.run([&](Rank& rank) {
      rank.group->definition().create_member(rank.number == 2 ? info : words(kLarge), nullptr, 0, [] {});
    }),
                 FENIX_ERROR_MISMATCH);
    for (Rank& rank : job.ranks()) EXPECT_EQ(rank.group->members().size(), 1U);
  }
}

TEST(GroupMismatch, OfTimeStampsIsFound) {
  GroupJob job(3, with_depth(1));
  job.make_snapshots(0, 1);
  expect_error(job.run([](Rank& rank) { restore(rank, kSmall, rank.number == 0 ? 0 : 1); }), FENIX_ERROR_MISMATCH);
  expect_error(job.run([](Rank& rank) { restore(rank, kSmall, rank.number == 0 ? std::optional(1) : std::nullopt); }),
               FENIX_ERROR_MISMATCH);
}

TEST(GroupMismatch, OfCollectiveCallsIsFound) {
  GroupJob job(3);
  job.make_snapshots(0, 0);
  expect_error(job.run([](Rank& rank) {
    if (rank.number == 1) {
      provide(rank, kLarge);
    } else {
      restore(rank, kSmall);
    }
  }),
               FENIX_ERROR_MISMATCH);
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, 0); }));
}

// The first commit of a member takes its first slot.
std::byte& own_byte(Rank& rank, int member) {
  auto& known = *rank.group->find(member);
  return known.memory.region().bytes()[known.memory.layout().own_offset(0) + 5];
}
std::byte& held_byte(Rank& rank, int member) {
  auto& known = *rank.group->find(member);
  return known.memory.region().bytes()[known.memory.layout().held_offset(0) + 5];
}

constexpr std::byte kFlip{0x10};

TEST(DamagedData, IsTakenFromTheBuddy) {
  GroupJob job(4);
  job.make_snapshots(0, 0);
  own_byte(job.rank(1), kSmall) ^= kFlip;
  const std::byte damaged = own_byte(job.rank(1), kSmall);
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, 0); }));
  EXPECT_NE(own_byte(job.rank(1), kSmall), damaged) << "the own copy is whole again";
}

TEST(DamagedData, OfTheBuddyDoesNotMatterWhileTheOwnIsGood) {
  GroupJob job(4);
  job.make_snapshots(0, 0);
  held_byte(job.rank(0), kSmall) ^= kFlip;
  expect_done(job.run([](Rank& rank) { expect_contents(rank, kSmall, 0); }));
}

TEST(DamagedData, InAllCopiesIsNotHandedOut) {
  GroupJob job(4);  // pairs 0-1 and 2-3
  job.make_snapshots(0, 0);
  own_byte(job.rank(1), kSmall) ^= kFlip;
  held_byte(job.rank(0), kSmall) ^= kFlip;
  expect_error(job.run([](Rank& rank) {
    Words target(count_of(rank.number, kSmall), 1);
    try {
      (void)rank.group->restore(kSmall, {}, {target.data(), target.size()}, [] {});
    } catch (...) {
      EXPECT_EQ(target, Words(target.size(), 1)) << "the target is as it was";
      throw;
    }
  }),
               FENIX_ERROR_NODATA_FOUND);
}

TEST(DamagedData, OfARankWithoutBuddyIsNotHandedOut) {
  GroupJob job(1);
  job.make_snapshots(0, 0);
  own_byte(job.rank(0), kSmall) ^= kFlip;
  expect_error(job.run([](Rank& rank) { restore(rank, kSmall); }), FENIX_ERROR_NODATA_FOUND);
}

}  // namespace
}  // namespace fenix_test
