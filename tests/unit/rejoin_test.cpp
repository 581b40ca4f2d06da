// SPDX-License-Identifier: BSD-3-Clause
// Forming a group again after deaths: who gets what back, and what is said when it is gone.
#include "recovery/groups/rejoin/rejoin.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/log/record_log.hpp"
#include "parity/pairing.hpp"
#include "support/partial_job.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Epoch;
using fenix_impl::GroupParameters;
using fenix_impl::Pairing;
using fenix_impl::RecordLog;

constexpr int kMembers[] = {kSmall, kUneven, kLarge};

// A job of ranks that store all members under the time stamps 0, 1, 2, …
class StoringJob : public Job {
 public:
  StoringJob(int size, int depth, int separation = 1)
      : Job(size), parameters_{5, 0, depth, {fenix_impl::Policy::Kind::buddies, separation}} {
    expect_done(run([&](Rank& rank) {
      join(rank, parameters_);
      for (const int member : kMembers) provide(rank, member);
    }));
  }

  static void make_snapshot(Rank& rank, int stamp) {
    for (const int member : kMembers) store(rank, member, stamp);
    EXPECT_EQ(rank.group->commit(), stamp);
  }

  // Snapshots with the time stamps from first to last, committed on all ranks.
  void make_snapshots(int first, int last) {
    expect_done(run([&](Rank& rank) {
      for (int stamp = first; stamp <= last; ++stamp) make_snapshot(rank, stamp);
      rank.group->wait_for_commit_on_all();
    }));
  }

  // Replaces the ranks, and forms the group again.
  void replace(const std::vector<int>& dead, bool expect_lost = false) {
    for (const int rank : dead) kill(rank);
    repair();
    form_again(expect_lost);
  }

  void form_again(bool expect_lost) {
    expect_done(run([&](Rank& rank) {
      // A replacement knows nothing: what it says does not count.
      const auto result = join(rank, rank.group ? parameters_ : GroupParameters{5, 77, 3, {}});
      EXPECT_TRUE(result.existed);
      EXPECT_EQ(result.snapshots_lost, expect_lost) << "rank " << rank.number;
      EXPECT_EQ(rank.group->parameters(), parameters_);
      for (const int member : kMembers) provide(rank, member);
    }));
  }

  void expect_snapshots(const std::vector<int>& stamps) {
    expect_done(run([&](Rank& rank) {
      EXPECT_EQ(rank.group->snapshots().on_all(), stamps);
      for (const int stamp : stamps) {
        for (const int member : kMembers) {
          EXPECT_EQ(restore(rank, member, stamp), contents(rank.number, member, stamp))
              << "rank " << rank.number << " member " << member << " time stamp " << stamp;
        }
      }
    }));
  }

  // All ranks can have what any of so many ranks stored before the team shrank.
  void expect_archive(const std::vector<int>& stamps, int ranks) {
    expect_done(run([&](Rank& rank) {
      EXPECT_EQ(rank.group->snapshots().on_all(), stamps);
      for (const int stamp : stamps) {
        for (const int member : kMembers) {
          for (int shift = 0; shift < ranks; ++shift) {
            const int source = (rank.number + shift) % ranks;
            Words target(count_of(source, member));
            const auto found =
                rank.group->restore_from(member, snapshot(stamp), {target.data(), target.size()}, source, [] {});
            EXPECT_EQ(target, contents(source, member, stamp)) << "member " << member << " of rank " << source;
            EXPECT_EQ(found.elements.count(), target.size());
          }
        }
      }
    }));
  }

  void expect_no_snapshots() {
    expect_error(run([](Rank& rank) {
                   EXPECT_TRUE(rank.group->snapshots().on_all().empty());
                   restore(rank, kSmall);
                 }),
                 FENIX_ERROR_NODATA_FOUND);
  }

 private:
  GroupParameters parameters_;
};

TEST(Rejoin, GivesEveryDeadRankItsDataBack) {
  for (int size = 2; size <= 5; ++size) {
    for (int dead = 0; dead < size; ++dead) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dead << " dies");
      StoringJob job(size, 2);
      job.make_snapshots(0, 4);
      job.replace({dead});
      job.expect_snapshots({4, 3, 2});
    }
  }
}

TEST(Rejoin, ReplacementLearnsTheMembers) {
  StoringJob job(3, 0);
  job.kill(1);
  job.repair();
  expect_done(job.run([](Rank& rank) {
    join(rank, {5, 0, 0, {}});
    ASSERT_EQ(rank.group->members().size(), 3U);
    for (const int member : kMembers) {
      expect_counts(rank, member, std::array{0, 1, 2});
      EXPECT_EQ(rank.group->find(member)->element_bytes(), 4U);
    }
  }));
}

TEST(Rejoin, WithoutDeathsKeepsAll) {
  StoringJob job(3, 1);
  job.make_snapshots(0, 2);
  job.repair();
  job.form_again(false);
  job.expect_snapshots({2, 1});
}

TEST(Rejoin, SeveralRanksOfDifferentCohortsMayDie) {
  StoringJob job(6, 1, 2);  // pairs 0-2, 1-3, 4-5
  job.make_snapshots(0, 3);
  job.replace({0, 3, 4});
  job.expect_snapshots({3, 2});
}

TEST(Rejoin, MakesTheGroupTolerateTheNextDeath) {
  for (int size = 2; size <= 5; ++size) {
    const Pairing pairing({}, size);
    for (int dead = 0; dead < size; ++dead) {
      for (const int next : {pairing.holder_of(dead), pairing.held_by(dead), dead}) {
        SCOPED_TRACE(testing::Message() << size << " ranks, " << dead << " dies, then " << next);
        StoringJob job(size, 1);
        job.make_snapshots(0, 2);
        job.replace({dead});
        job.replace({next});
        job.expect_snapshots({2, 1});
      }
    }
  }
}

/// The bytes of an entry of each rank's log.
std::vector<std::size_t> entries_of_logs(Job& job) {
  std::vector<std::size_t> bytes;
  for (Rank& rank : job.ranks()) bytes.push_back(rank.group->log().memory().control().own_log.entry_bytes());
  return bytes;
}

TEST(Rejoin, TakesUpRecordsThatAreLongerThanEntriesOnAnotherPath) {
  constexpr std::uint64_t kCount = 12000;
  PartialJob job(3, kKeepAll, kCount);
  const auto store_and_commit = [&](Rank& rank, std::uint32_t seed, std::uint64_t pieces) {
    fenix_impl::IntervalSet odd;
    for (std::uint64_t i = 0; i < pieces; ++i) odd.append({2 * i + 1, 2 * i + 2});
    change(rank, job.model(rank), odd, seed);
    store_elements(rank, kMember, fenix_impl::Selection::some(odd));
    commit_barrier(rank);
  };
  // Only the rank that dies has so many pieces: it is its keepers that need the room.
  expect_done(job.run([&](Rank& rank) { store_and_commit(rank, 1, rank.number == 1 ? kCount / 2 : 5); }));
  job.kill(1);
  job.repair();
  for (Rank& rank : job.ranks()) rank.path->say_real();
  job.form();
  EXPECT_EQ(entries_of_logs(job), std::vector<std::size_t>(3, 2 * RecordLog::kLeastEntryBytes));
  expect_done(job.run([&](Rank& rank) {
    expect_elements(rank, job.model(rank), kLatest, kCount, "what was committed before");
    store_and_commit(rank, 2, kCount / 2);
    expect_elements(rank, job.model(rank), kLatest, kCount, "and after");
  }));
}

TEST(Rejoin, LogsAreLaidOutAlikeWhereOnlySomePathsMakeMemoryReal) {
  Job job(3);
  const GroupParameters parameters{5, 0, kKeepAll, {}};
  const auto form = [&] {
    job.rank(0).path->say_real();
    expect_done(job.run([&](Rank& rank) {
      (void)join(rank, parameters);
      provide(rank, kSmall);
    }));
    EXPECT_EQ(entries_of_logs(job), std::vector<std::size_t>(3, RecordLog::kLeastEntryBytes));
  };
  form();
  expect_done(job.run([&](Rank& rank) {
    store(rank, kSmall, 0);
    commit_barrier(rank);
  }));
  job.kill(1);
  job.repair();
  form();
  expect_done(job.run([&](Rank& rank) { EXPECT_EQ(restore(rank, kSmall), contents(rank.number, kSmall, 0)); }));
}

TEST(Rejoin, GroupGoesOnWithTheNextTimeStamp) {
  StoringJob job(4, 1);
  job.make_snapshots(0, 2);
  job.replace({1});
  job.make_snapshots(3, 5);
  job.replace({2});
  job.expect_snapshots({5, 4});
}

TEST(Rejoin, WhatWasStoredButNotCommittedIsDropped) {
  for (int dead = 0; dead < 4; ++dead) {
    SCOPED_TRACE(dead);
    StoringJob job(4, 0);
    job.make_snapshots(0, 1);
    expect_done(job.run([](Rank& rank) { store(rank, kSmall, 99); }));
    job.replace({dead});
    job.expect_snapshots({1});
    // The store from before the repair is not part of the next commit.
    expect_done(job.run([](Rank& rank) { commit_barrier(rank); }));
    expect_done(job.run([](Rank& rank) { EXPECT_EQ(restore(rank, kSmall), contents(rank.number, kSmall, 1)); }));
  }
}

TEST(Rejoin, CommitsThatNotAllRanksMadeAreDropped) {
  for (int size = 2; size <= 5; ++size) {
    for (int dead = 0; dead < size; ++dead) {
      for (int behind = 0; behind < size; ++behind) {
        SCOPED_TRACE(testing::Message() << size << " ranks, " << dead << " dies, " << behind << " has not committed");
        StoringJob job(size, 1);
        job.make_snapshots(0, 2);
        expect_done(job.run([&](Rank& rank) {
          for (const int member : kMembers) store(rank, member, 50);
          if (rank.number != behind) rank.group->commit();
        }));
        job.replace({dead});
        job.expect_snapshots({2, 1});
        // The same time stamp again, with other contents.
        job.make_snapshots(3, 3);
        job.replace({behind});
        job.expect_snapshots({3, 2});
      }
    }
  }
}

TEST(Rejoin, CommitThatAllRanksMadeStaysEvenIfNobodyKnew) {
  StoringJob job(4, 0);
  job.make_snapshots(0, 1);
  expect_done(job.run([](Rank& rank) { StoringJob::make_snapshot(rank, 2); }));
  job.replace({1});
  job.expect_snapshots({2});
}

TEST(Rejoin, SaysSoWhenBothBuddiesAreGone) {
  const std::vector<std::vector<int>> deaths{{0, 1}, {2, 3}, {0, 1, 2}};
  for (const auto& dead : deaths) {
    SCOPED_TRACE(testing::Message() << dead.size() << " die, first " << dead[0]);
    StoringJob job(4, 1);
    job.make_snapshots(0, 2);
    job.replace(dead, true);
    job.expect_no_snapshots();
    job.make_snapshots(0, 3);
    job.replace({1});
    job.expect_snapshots({3, 2});
  }
}

// A first try to form the group may be cut short when the snapshots have been given up already.
TEST(Rejoin, SaysSoAlsoWhenItHadToBeginAgain) {
  for (int steps = 0;; ++steps) {
    SCOPED_TRACE(testing::Message() << "rank 5 dies after " << steps << " steps");
    StoringJob job(6, 0);  // pairs 0-1, 2-3, 4-5
    job.make_snapshots(0, 2);
    job.kill(0);
    job.kill(1);
    job.repair();
    job.doom(5, steps);
    bool told = false;
    const auto join_and_see = [&](Rank& rank) {
      const bool lost = join(rank, {5, 0, 0, {}}).snapshots_lost;
      if (rank.number == 2) told = told || lost;
    };
    const bool lives = job.run(join_and_see)[5] == Ending::done;
    job.repair();
    expect_done(job.run(join_and_see));
    EXPECT_TRUE(told);
    job.expect_no_snapshots();
    if (lives || testing::Test::HasFailure()) return;
  }
}

TEST(Rejoin, AnyTwoOfAChainAreTooMany) {
  const std::vector<std::vector<int>> deaths{{0, 1}, {1, 2}, {0, 2}};
  for (const auto& dead : deaths) {
    StoringJob job(3, 0);
    job.make_snapshots(0, 2);
    job.replace(dead, true);
    job.expect_no_snapshots();
  }
}

TEST(Rejoin, NothingIsLostIfNothingWasCommitted) {
  StoringJob job(2, 0);
  expect_done(job.run([](Rank& rank) { store(rank, kSmall, 0); }));
  job.replace({0});
  job.expect_no_snapshots();
}

TEST(Rejoin, AllRanksNewIsAFirstTime) {
  StoringJob job(2, 0);
  job.make_snapshots(0, 0);
  job.kill(0);
  job.kill(1);
  job.repair();
  expect_done(job.run([](Rank& rank) {
    const auto result = join(rank, {5, 9, 2, {}});
    EXPECT_FALSE(result.existed);
    EXPECT_FALSE(result.snapshots_lost);
    EXPECT_EQ(rank.group->parameters().start_time_stamp, 9);
  }));
}

// Nobody is left who worked with those sizes.
TEST(Rejoin, SizesThatHaveChangedAreKnownThoughAllPartnersDie) {
  constexpr int kGrowing = 31;
  const auto size_on = [](int rank) { return static_cast<std::size_t>(900 + 10 * rank); };
  StoringJob job(6, 0);
  expect_done(job.run([&](Rank& rank) {
    Words& buffer = rank.buffers[kGrowing];
    buffer.assign(size_on(rank.number), 1);
    rank.group->definition().create_member(words(kGrowing), buffer.data(), FENIX_RESIZEABLE, [] {});
    store_elements(rank, kGrowing, fenix_impl::Selection::some({0, size_on(rank.number)}));
    commit_barrier(rank);
  }));
  const auto partners = fenix_impl::Placement({fenix_impl::Policy::Kind::buddies, 1}, 6).partners(2);
  std::vector<int> dead{2};
  dead.insert(dead.end(), partners.begin(), partners.end());
  job.replace(dead, true);
  expect_done(job.run([&](Rank& rank) {
    const auto& counts = rank.group->find(kGrowing)->memory.counts();
    auto ranks = rank.group->ranks().placement.witnesses(rank.number);
    ranks.push_back(rank.number);
    for (const int each : ranks) EXPECT_EQ(counts.at(each), size_on(each)) << "rank " << each;
  }));
}

TEST(Rejoin, ShrunkTeamKeepsMembersAndPutsSnapshotsAside) {
  StoringJob job(4, 1);
  job.make_snapshots(0, 2);
  job.kill(1);
  job.shrink();
  expect_done(job.run([&](Rank& rank) {
    const auto result = join(rank, {5, 0, 1, {}});
    EXPECT_TRUE(result.existed);
    EXPECT_FALSE(result.snapshots_lost);
    EXPECT_EQ(rank.group->members().size(), 3U);
    expect_counts(rank, kLarge, std::array{0, 2, 3});
    EXPECT_EQ(rank.group->snapshots().on_all(), (std::vector<int>{2, 1}));
  }));
  expect_error(job.run([](Rank& rank) { restore(rank, kSmall); }), FENIX_ERROR_NODATA_FOUND);
  job.expect_archive({2, 1}, 4);
}

TEST(Rejoin, ShrunkTeamLosesNoCommitThatNotAllRanksMade) {
  for (int behind = 0; behind < 4; ++behind) {
    SCOPED_TRACE(testing::Message() << "rank 1 dies, " << behind << " has not committed");
    StoringJob job(4, 1);
    expect_done(job.run([&](Rank& rank) {
      for (const int member : kMembers) store(rank, member, 0);
      if (rank.number != behind) rank.group->commit();
    }));
    job.kill(1);
    job.shrink();
    expect_done(job.run([](Rank& rank) { EXPECT_FALSE(join(rank, {5, 0, 1, {}}).snapshots_lost); }));
    job.expect_no_snapshots();
  }
}

TEST(Rejoin, ArchiveLastsUntilTheNewTeamHasCommitted) {
  StoringJob job(4, 0);
  job.make_snapshots(0, 2);
  job.kill(1);
  job.shrink();
  expect_done(job.run([](Rank& rank) {
    join(rank, {5, 0, 0, {}});
    store(rank, kSmall, 3);
    commit_barrier(rank);
    EXPECT_EQ(rank.group->snapshots().on_all(), std::vector<int>{3}) << "time stamps go on";
    EXPECT_EQ(restore(rank, kSmall), contents(rank.origin, kSmall, 3));
  }));
}

// Nobody protects an archive: it lasts as long as one of each pair lives.
TEST(Rejoin, ArchiveOutlivesFurtherDeaths) {
  StoringJob job(6, 0);  // pairs 0-1, 2-3, 4-5
  job.make_snapshots(0, 2);
  job.kill(1);
  job.shrink();
  expect_done(job.run([](Rank& rank) { EXPECT_FALSE(join(rank, {5, 0, 0, {}}).snapshots_lost); }));
  job.kill(1);  // which was number 2
  job.shrink();
  expect_done(job.run([](Rank& rank) { EXPECT_FALSE(join(rank, {5, 0, 0, {}}).snapshots_lost); }));
  job.expect_archive({2}, 6);
  job.kill(0);  // the buddy of the first
  job.shrink();
  expect_done(job.run([](Rank& rank) { EXPECT_TRUE(join(rank, {5, 0, 0, {}}).snapshots_lost); }));
  job.expect_no_snapshots();
}

// A rejoin of a shrunk team is cut short when some ranks have put their snapshots aside and others have not.
TEST(Rejoin, ArchiveIsTheSameWhereverTheRejoinWasCutShort) {
  for (int steps = 0;; steps += stride(1, 4)) {
    SCOPED_TRACE(testing::Message() << "rank 4 dies after " << steps << " steps");
    StoringJob job(6, 0);  // pairs 0-1, 2-3, 4-5
    job.make_snapshots(0, 2);
    job.kill(0);
    job.shrink();
    job.doom(2, steps, 2);  // which was number 3; number 2 of old is unlucky
    const bool lives = job.run([](Rank& rank) { join(rank, {5, 0, 0, {}}); })[2] == Ending::done;
    if (!lives) job.shrink();
    if (lives) job.repair();
    expect_done(job.run([](Rank& rank) { EXPECT_FALSE(join(rank, {5, 0, 0, {}}).snapshots_lost); }));
    job.expect_archive({2}, 6);
    if (lives || testing::Test::HasFailure()) return;
  }
}

// The place of an epoch's record in the log that a rank holds for another one: the last part of its control region.
std::span<std::byte> held_record(Rank& rank, Epoch epoch) {
  const auto control = rank.path->first_region();
  const std::size_t log_bytes = rank.group->log().memory().entries() * RecordLog::kEntryBytes;
  const RecordLog log(control.subspan((control.size() - log_bytes) / 4096 * 4096, log_bytes), 0);
  for (const auto& logged : log.read_all()) {
    if (logged.record.epoch == epoch) return log.entry(logged.entry);
  }
  return {};
}

TEST(RejoinWithDamage, TakesNoRecordThatIsDamagedAtTheHolder) {
  StoringJob job(4, 1);  // pairs 0-1 and 2-3
  job.make_snapshots(0, 3);
  auto record = held_record(job.rank(0), {4});
  ASSERT_FALSE(record.empty()) << "the test looks in the wrong place";
  record[90] ^= std::byte{1};
  job.replace({1});
  // Nothing tells what rank 1 had under time stamp 3; those before are still there on all ranks.
  job.expect_snapshots({2, 1});
}

TEST(RejoinWithDamage, TakesNoDataThatIsDamagedAtTheHolder) {
  StoringJob job(4, 1);
  job.make_snapshots(0, 1);
  auto& member = *job.rank(0).group->find(kLarge);
  member.memory.region().bytes()[member.memory.layout().held_offset(1) + 9] ^= std::byte{1};
  job.replace({1});
  job.expect_snapshots({0});
}

TEST(RejoinWithDamage, LosesAllIfTheOnlySnapshotIsDamaged) {
  StoringJob job(4, 0);
  job.make_snapshots(0, 0);
  auto& member = *job.rank(0).group->find(kSmall);
  member.memory.region().bytes()[member.memory.layout().held_offset(0)] ^= std::byte{1};
  job.replace({1}, true);
  job.expect_no_snapshots();
}

TEST(RejoinWithDamage, SurvivorsTakeDamagedDataFromTheirBuddy) {
  StoringJob job(4, 0);
  job.make_snapshots(0, 0);
  auto& member = *job.rank(3).group->find(kSmall);
  member.memory.region().bytes()[member.memory.layout().own_offset(0)] ^= std::byte{1};
  job.replace({1});
  job.expect_snapshots({0});
}

}  // namespace
}  // namespace fenix_test
