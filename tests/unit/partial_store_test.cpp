// SPDX-License-Identifier: BSD-3-Clause
// Subsets, asynchronous stores, sizes that change, deletion: what each rank gets back is what a simple model says.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support/encoded.hpp"
#include "support/partial_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Found;
using fenix_impl::IntervalSet;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::Selection;

TEST(PartialStore, AccumulatesUntilTheCommit) {
  PartialJob job(3, 0, 100);
  expect_done(job.run([&](Rank& rank) {
    for (const auto& part : {IntervalSet(0, 10), IntervalSet(50, 60), IntervalSet(5, 20)}) {
      change(rank, job.model(rank), part, 1);
      store_elements(rank, kMember, Selection::some(part));
    }
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100, "three parts");
  }));
}

TEST(PartialStore, SnapshotsBuildUponEachOther) {
  for (const int depth : {0, 1, 3, kKeepAll}) {
    SCOPED_TRACE(depth);
    PartialJob job(3, depth, 300);
    std::vector<std::vector<Elements>> history(3);
    expect_done(job.run([&](Rank& rank) {
      auto& models = history[static_cast<std::size_t>(rank.number)];
      for (unsigned stamp = 0; stamp < 12; ++stamp) {
        const std::uint64_t first = 23 * stamp % 250;
        change(rank, job.model(rank), {first, first + 40}, stamp);
        store_elements(rank, kMember, Selection::some({first, first + 40}));
        commit_barrier(rank);
        models.push_back(job.model(rank));
        const auto stamps = rank.group->snapshots().on_all();
        EXPECT_EQ(stamps.size(), depth == kKeepAll ? stamp + 1 : std::min(stamp, static_cast<unsigned>(depth)) + 1);
        for (const int each : stamps) {
          expect_elements(rank, models[static_cast<std::size_t>(each)], at(each), 300, "a snapshot");
        }
      }
    }));
    job.kill(1);
    job.repair();
    job.form();
    expect_done(job.run([&](Rank& rank) {
      for (const int each : rank.group->snapshots().on_all()) {
        expect_elements(rank, history[static_cast<std::size_t>(rank.number)][static_cast<std::size_t>(each)], at(each),
                        300, "after a death");
      }
    }));
  }
}

TEST(PartialStore, InPlaceAPartOverAWholeBlockLeavesNoHashOfBefore) {
  PartialJob job(2, 0, 100, 0, {}, 1);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 100}, 1);
    rank.group->staging().stage(member_of(rank), Selection::all());
    store_elements(rank, kMember, Selection::staged());
    change(rank, job.model(rank), {3, 9}, 2);  // what was staged is not in the buffer any more
    store_elements(rank, kMember, Selection::some({3, 9}));
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100, "a part over the whole");
  }));
}

TEST(PartialStore, EmptyStoreMakesAMemberThatHasNothing) {
  PartialJob job(2, 0, 10);
  expect_done(job.run([&](Rank& rank) {
    if (rank.number == 0) change(rank, job.model(rank), {2, 4}, 1);
    store_elements(rank, kMember, Selection::some(rank.number == 0 ? IntervalSet(2, 4) : IntervalSet()));
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 10, "nothing on one rank");
  }));
}

TEST(PartialStore, BeyondTheMemberIsAnErrorAndChangesNothing) {
  PartialJob job(2, 0, 10);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 10}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
  }));
  expect_error(job.run([](Rank& rank) {
    store_elements(rank, kMember, Selection::some({5, 11}));
  }),
               FENIX_ERROR_SUBSET_END_OFFSET);
  expect_done(job.run([&](Rank& rank) {
    rank.group->commit();
    expect_elements(rank, job.model(rank), kLatest, 10, "after the error");
  }));
}

TEST(PartialStore, SetsThatNoRecordCanDescribeAreRefused) {
  constexpr std::uint64_t kElements = 200'000;
  PartialJob job(1, 0, kElements);
  std::vector<fenix_impl::Interval> odd;
  for (std::uint64_t i = 1; i < kElements; i += 2) odd.push_back({i, i + 1});
  expect_error(job.run([&](Rank& rank) { store_elements(rank, kMember, Selection::some(IntervalSet::of(odd))); }),
               FENIX_ERROR_SUBSET_NUM_BLOCKS);
  odd.resize(60'000);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), IntervalSet::of(odd), 1);
    store_elements(rank, kMember, Selection::some(IntervalSet::of(odd)));
    rank.group->commit();
    expect_elements(rank, job.model(rank), kLatest, kElements, "as many as there is room for");
  }));
}

// Returns so many single elements, none beside another one, from a place on.
IntervalSet scattered(std::uint64_t from, std::uint64_t number) {
  IntervalSet elements;
  for (std::uint64_t i = 0; i < number; ++i) elements.append({from + 2 * i, from + 2 * i + 1});
  return elements;
}

// Each store but the first is small, and all of them together are more than a record can describe.
TEST(PartialStore, PiecesOfManySmallStoresAddUp) {
  // Near the limit: each store takes time by all pieces, and with sanitizers the other rank must not wait for too long.
  constexpr std::uint64_t kFirst = 65'000;
  constexpr std::uint64_t kEach = 63;
  constexpr std::uint64_t kStores = 20;
  constexpr std::uint64_t kElements = 2 * (kFirst + kEach * kStores);
  for (const Policy& policy : {Policy{}, parity(2, 1)}) {
    PartialJob job(2, 0, kElements, 0, policy);
    expect_done(job.run([&](Rank& rank) {
      Elements all;
      change(rank, all, {0, kElements}, 1);
      std::uint64_t stores = 0;
      try {
        for (; stores < kStores; ++stores) {
          // Only one rank comes to the limit.
          const std::uint64_t first = stores == 0 ? 0 : 2 * (kFirst + kEach * (stores - 1));
          const std::uint64_t number = stores == 0 ? kFirst : kEach;
          const IntervalSet elements = rank.number == 0 ? scattered(first, number) : IntervalSet(0, 10);
          store_elements(rank, kMember, Selection::some(elements));
          change(rank, job.model(rank), elements, 1);
        }
      } catch (const fenix_impl::Error& error) {
        EXPECT_EQ(error.code(), FENIX_ERROR_SUBSET_NUM_BLOCKS);
      }
      EXPECT_EQ(stores < kStores, rank.number == 0);
      EXPECT_GT(kFirst + (stores - 1) * kEach, 65'400U);
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, kElements, "the stores before the error");
    }));
    // There is room again once pieces have joined.
    expect_done(job.run([&](Rank& rank) {
      store_elements(rank, kMember, Selection::all());
      store_elements(rank, kMember, Selection::some(scattered(0, 30'000)));
      change(rank, job.model(rank), {0, kElements}, 1);
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, kElements, "whole again");
    }));
  }
}

// The store cannot foresee it: a deletion brings back a snapshot in which the other member is in many pieces.
TEST(PartialStore, ARecordThatDoesNotFitIsDeclinedByTheCohort) {
  constexpr std::uint64_t kElements = 100'000;
  constexpr int kSecond = 8;
  for (const Policy& policy : {Policy{}, parity(2, 1)}) {
    PartialJob job(2, 1, kElements, 0, policy);
    const auto both = [&](Rank& rank, const IntervalSet& first, const IntervalSet& second) {
      store_elements(rank, kMember, Selection::some(first));
      store_elements(rank, kSecond, Selection::some(second));
    };
    expect_done(job.run([&](Rank& rank) {
      rank.buffers[kSecond].resize(kElements);
      rank.group->definition().create_member(words(kSecond), rank.buffers[kSecond].data(), kElements, [] {});
      both(rank, rank.number == 0 ? scattered(0, 40'000) : IntervalSet(0, 10), {0, 1});
      commit_barrier(rank);
      both(rank, {0, kElements}, {0, 1});
      commit_barrier(rank);
      both(rank, {0, 1}, rank.number == 0 ? scattered(0, 40'000) : IntervalSet(0, 10));
      rank.group->delete_snapshot(kLatest);
    }));
    const auto outcomes = job.run([](Rank& rank) { rank.group->commit(); });
    EXPECT_EQ(outcomes[0].code, FENIX_ERROR_SUBSET_NUM_BLOCKS) << outcomes[0];
    EXPECT_EQ(outcomes[1].code, policy.encodes() ? FENIX_ERROR_INVALID_LOGIC_CALL : FENIX_SUCCESS) << outcomes[1];
    if (!policy.encodes()) continue;
    expect_done(job.run([&](Rank& rank) {
      Elements all;
      change(rank, all, {0, kElements}, 1);
      both(rank, {0, kElements}, {0, kElements});
      commit_barrier(rank);
      change(rank, job.model(rank), {0, kElements}, 1);
      expect_elements(rank, job.model(rank), kLatest, kElements, "stored as a whole");
    }));
  }
}

// ------------------------------------------------------------------------------------------------- asynchronous stores

TEST(AsynchronousStore, CompletesByItself) {
  PartialJob job(2, 0, 100'000);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 100'000}, 1);
    Member* const member = &member_of(rank);
    const auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
    std::fill(rank.buffers[kMember].begin(), rank.buffers[kMember].end(), 0U);
    while (request->pending()) std::this_thread::yield();  // no call of the group
    EXPECT_TRUE(rank.group->requests().is_finished(*request));
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 100'000, "asynchronous");
  }));
  job.kill(1);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, 100'000, "rebuilt"); }));
}

TEST(AsynchronousStore, PendingAtTheCommitIsAnErrorOrComplete) {
  PartialJob job(2, 0, 3'000'000);
  expect_done(job.run([&](Rank& rank) {
    Member* const member = &member_of(rank);
    const auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
    try {
      rank.group->commit();
      EXPECT_FALSE(request->pending());
    } catch (const fenix_impl::Error& error) {
      EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_LOGIC_CALL);
      EXPECT_NE(std::string(error.what()).find("member_id 7"), std::string::npos);
      rank.group->requests().wait_for(*request);
      rank.group->commit();
    }
    rank.group->wait_for_commit_on_all();
  }));
}

// As a store of all members makes it in a group that has none.
TEST(AsynchronousStore, OfNoMemberIsPendingAtTheCommit) {
  PartialJob job(2, 0, 10);
  expect_done(job.run([&](Rank& rank) {
    fenix_impl::RequestQueue& requests = rank.group->requests();
    const auto request = std::make_shared<fenix_impl::Request>(1, std::vector<std::int32_t>{});
    requests.reserve_one();
    requests.add(request);
    try {
      rank.group->commit();
      ADD_FAILURE() << "committed";
    } catch (const fenix_impl::Error& error) {
      EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_LOGIC_CALL);
      EXPECT_NE(std::string(error.what()).find("no member"), std::string::npos);
    }
    request->end(fenix_impl::Request::State::done);
    rank.group->commit();
  }));
}

TEST(AsynchronousStore, IsCancelledByADeath) {
  PartialJob job(2, 0, 3'000'000);
  std::vector<std::shared_ptr<fenix_impl::Request>> requests(2);
  expect_done(job.run([&](Rank& rank) {
    Member* const member = &member_of(rank);
    for (int i = 0; i < 5; ++i) {
      requests[static_cast<std::size_t>(rank.number)] =
          rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
    }
  }));
  job.kill(1);
  job.repair();
  EXPECT_FALSE(requests[0]->pending());
  job.form();
}

// ------------------------------------------------------------------------------------------------------------ deletion

TEST(Deletion, OfSnapshotsLeavesTheOthers) {
  PartialJob job(3, 2, 40);
  std::vector<std::vector<Elements>> history(3);
  expect_done(job.run([&](Rank& rank) {
    for (unsigned stamp = 0; stamp < 5; ++stamp) {
      change(rank, job.model(rank), {8 * stamp, 8 * stamp + 8}, stamp);
      store_elements(rank, kMember, Selection::some({8 * stamp, 8 * stamp + 8}));
      commit_barrier(rank);
      history[static_cast<std::size_t>(rank.number)].push_back(job.model(rank));
    }
    rank.group->delete_snapshot(at(3));
    EXPECT_EQ(rank.group->snapshots().on_all(), (std::vector<int>{4, 2}));
  }));
  expect_error(job.run([](Rank& rank) { rank.group->delete_snapshot(at(3)); }), FENIX_ERROR_INVALID_TIMESTAMP);
  expect_done(job.run([&](Rank& rank) {
    expect_elements(rank, history[static_cast<std::size_t>(rank.number)][2], at(3), 40, "before the deleted one");
  }));
  const auto expect_history = [&](Rank& rank, const std::vector<int>& stamps) {
    EXPECT_EQ(rank.group->snapshots().on_all(), stamps);
    for (const int each : stamps) {
      expect_elements(rank, history[static_cast<std::size_t>(rank.number)][static_cast<std::size_t>(each)], at(each),
                      40, "kept");
    }
  };
  expect_done(job.run([&](Rank& rank) { expect_history(rank, {4, 2}); }));
  job.kill(2);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_history(rank, {4, 2}); }));
}

TEST(Deletion, OfTheLatestOnOneRankTakesItFromAll) {
  for (const bool after_death : {false, true}) {
    PartialJob job(3, 1, 40);
    std::vector<std::vector<Elements>> history(3);
    expect_done(job.run([&](Rank& rank) {
      for (unsigned stamp = 0; stamp < 4; ++stamp) {
        change(rank, job.model(rank), {0, 40}, stamp);
        store_elements(rank, kMember, Selection::all());
        commit_barrier(rank);
        history[static_cast<std::size_t>(rank.number)].push_back(job.model(rank));
      }
      rank.team->barrier();
      if (rank.number == 1) rank.group->delete_snapshot(kLatest);
      rank.team->barrier();
    }));
    if (after_death) {
      job.kill(1);
      job.repair();
      job.form();
    }
    expect_done(job.run([&](Rank& rank) {
      expect_elements(rank, history[static_cast<std::size_t>(rank.number)][2], kLatest, 40, "the one before");
      change(rank, job.model(rank), {0, 1}, 77);
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
      EXPECT_EQ(rank.group->snapshots().on_all().front(), 4) << "no time stamp is given twice";
    }));
  }
}

TEST(Deletion, OfAllSnapshotsIsNoLoss) {
  PartialJob job(2, 1, 40);
  expect_done(job.run([&](Rank& rank) {
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    rank.group->delete_snapshot(kAll);
    EXPECT_TRUE(rank.group->snapshots().on_all().empty());
  }));
  job.kill(0);
  job.repair();
  job.form();
  expect_error(job.run([](Rank& rank) {
    Words target(40);
    (void)rank.group->restore(kMember, kLatest, {target.data(), 40}, [] {});
  }),
               FENIX_ERROR_NODATA_FOUND);
}

TEST(Deletion, OfAMemberOnOneRankIsCompletedByTheBarrier) {
  PartialJob job(3, 1, 40);
  expect_done(job.run([&](Rank& rank) {
    provide(rank, kSmall + 1);
    change(rank, job.model(rank), {0, 40}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    if (rank.number == 1) rank.group->delete_member(*rank.group->find(kSmall + 1));
    EXPECT_TRUE(rank.group->make_consistent());
    EXPECT_EQ(rank.group->find(kSmall + 1), nullptr);
    expect_elements(rank, job.model(rank), kLatest, 40, "the other member");
    provide(rank, kSmall + 1);
  }));
}

TEST(Deletion, OfAMemberIsCompletedByARecovery) {
  PartialJob job(3, 1, 40);
  expect_done(job.run([&](Rank& rank) {
    provide(rank, kSmall + 1);
    change(rank, job.model(rank), {0, 40}, 1);
    store(rank, kSmall + 1, 0);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    if (rank.number == 1) rank.group->delete_member(*rank.group->find(kSmall + 1));
  }));
  job.kill(2);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) {
    EXPECT_EQ(rank.group->find(kSmall + 1), nullptr);
    expect_elements(rank, job.model(rank), kLatest, 40, "the other member");
  }));
}

// A member with the id of one that was deleted has none of its data.
TEST(Deletion, OldDataDoesNotComeBackWithANewMember) {
  PartialJob job(3, 2, 40, 60);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 40}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    rank.team->barrier();
    rank.group->delete_member(member_of(rank));
    create(rank, 60, 60);
  }));
  const auto restore_it = [](Rank& rank) {
    Words target(60);
    (void)rank.group->restore(kMember, kLatest, {target.data(), 60}, [] {});
  };
  expect_error(job.run(restore_it), FENIX_ERROR_NODATA_FOUND);
  job.kill(0);
  job.repair();
  job.form();
  expect_error(job.run(restore_it), FENIX_ERROR_NODATA_FOUND);
  expect_done(job.run([&](Rank& rank) {
    job.model(rank).clear();
    change(rank, job.model(rank), {0, 60}, 2);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 60, "of the new member");
  }));
}

TEST(Deletion, OfAGroupOnOneRankIsCompletedByTheBarrier) {
  PartialJob job(3, 0, 3'000'000);
  expect_done(job.run([](Rank& rank) {
    if (rank.number == 2) {
      Member* const member = &member_of(rank);
      std::vector<std::shared_ptr<fenix_impl::Request>> requests;
      for (std::uint64_t id = 1; id <= 2; ++id) {
        requests.push_back(
            rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::some({0, 5}), id));
      }
      rank.group->mark_deleted();
      for (const auto& request : requests) EXPECT_FALSE(request->pending()) << "nobody could wait for it any more";
    } else {
      for (int store = 0; store < 2; ++store) store_elements(rank, kMember, Selection::some({0, 5}));
    }
    EXPECT_FALSE(rank.group->make_consistent());
  }));
}

TEST(Deletion, OfAGroupLeavesNobodyWaitingThatEncodesWithThisRank) {
  PartialJob job(3, 0, 100'000, 0, fenix_test::parity(3));
  expect_done(job.run([](Rank& rank) {
    Member* const member = &member_of(rank);
    store_elements(rank, kMember, Selection::all());
    const auto store = [&](std::uint64_t id) {
      return rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::some({0, 90'000}), id);
    };
    const auto request = store(1);
    if (rank.number == 2) return rank.group->mark_deleted();
    const auto another = store(2);
    rank.group->requests().wait_for(*request);
    rank.group->requests().wait_for(*another);
    EXPECT_EQ(request->state(), fenix_impl::Request::State::done);
    EXPECT_EQ(another->state(), fenix_impl::Request::State::done);
    try {
      (void)rank.group->commit();
      ADD_FAILURE() << "a commit without rank 2";
    } catch (const fenix_impl::Error& error) {
      EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_LOGIC_CALL) << error.what();
      EXPECT_NE(std::string(error.what()).find("rank 2 has deleted the group"), std::string::npos) << error.what();
    }
  }));
}

// ------------------------------------------------------------------------------------------------------ new definitions

TEST(NewDefinition, OfAllRanksIsKnownToARankThatReplacesOneOfThem) {
  PartialJob job(3, 0, 30, 60);
  const auto define = [](Rank& rank, std::uint64_t count) {
    member_of(rank).redefine_count(count);
    rank.group->take_in_definition(member_of(rank));
  };
  expect_done(job.run([&](Rank& rank) {
    define(rank, 0);
    EXPECT_TRUE(member_of(rank).is_resizeable());
    define(rank, rank.number == 0 ? 0 : 50 + static_cast<std::uint64_t>(rank.number));
    EXPECT_FALSE(member_of(rank).may_be_resizeable());
  }));
  job.kill(1);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) {
    EXPECT_FALSE(member_of(rank).may_be_resizeable());
    const std::uint64_t count = rank.number == 0 ? 0 : 50 + static_cast<std::uint64_t>(rank.number);
    EXPECT_EQ(member_of(rank).own_count(), count) << "rank " << rank.number;
    change(rank, job.model(rank), {0, count}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, count, "of the new definition");
  }));
}

TEST(NewDefinition, LeavesMemoryThatIsInUseAsItIs) {
  PartialJob job(2, 0, 30, 60);
  expect_done(job.run([&](Rank& rank) {
    Member& member = member_of(rank);
    std::span<std::byte> lent;
    if (rank.number == 0) lent = rank.group->staging().staging_area(member);
    if (rank.number == 1) member.redefine_count(50'000);
    rank.group->take_in_definition(member);
    if (lent.empty()) return;
    lent.back() = std::byte{1};
    EXPECT_TRUE(rank.group->staging().is_staging_area(member, lent.data()));
  }));
}

// ---------------------------------------------------------------------------------------------------------- the policy

TEST(ChangeOfPolicy, WaitsForARequestThatLeavesAllUntouched) {
  PartialJob job(4, 0, 30, 0, fenix_test::parity(4));
  expect_done(job.run([](Rank& rank) {
    const auto request = rank.group->stores().store_asynchronously({}, Selection::all(), 1);
    rank.group->policy_change().set_policy(fenix_test::parity(2), [] {});
    rank.group->requests().wait_for(*request);
    EXPECT_EQ(request->state(), fenix_impl::Request::State::done);
  }));
}

TEST(ChangeOfPolicy, HoldsForWhatIsStoredLater) {
  PartialJob job(4, 0, 30);  // pairs 0-1, 2-3
  expect_done(job.run([&](Rank& rank) {
    rank.group->policy_change().set_policy({Policy::Kind::ring, 3}, [] {});  // rank 0's data on 3, 1's on 0
    change(rank, job.model(rank), {0, 30}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
  }));
  expect_error(job.run([](Rank& rank) {
    rank.group->policy_change().set_policy({Policy::Kind::ring, 1}, [] {});
  }),
               FENIX_ERROR_INVALID_LOGIC_CALL);
  // 1 and 3 are no neighbours in this ring, 2 and 3 are in both.
  job.kill(1);
  job.kill(3);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, 30, "rebuilt"); }));
}

TEST(RestoreFromRank, GivesWhatTheOtherRankStored) {
  for (const Policy policy : {Policy{Policy::Kind::buddies, 1}, Policy{Policy::Kind::ring, 2}}) {
    PartialJob job(4, 1, 30, 0, policy);
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {3, 20}, static_cast<std::uint32_t>(rank.number));
      store_elements(rank, kMember, Selection::some({3, 20}));
      commit_barrier(rank);
      rank.team->barrier();
      for (int shift = 0; shift < 4; ++shift) {
        const int source = (rank.number + shift) % 4;
        Words target(30, kUntouched);
        const Found found = rank.group->restore_from(kMember, kLatest, {target.data(), 30}, source, [] {});
        EXPECT_EQ(found.elements, IntervalSet(3, 20));
        EXPECT_TRUE(found.partial);
        EXPECT_EQ(target[2], kUntouched);
        for (std::uint64_t i = 3; i < 20; ++i) EXPECT_EQ(target[i], job.models[static_cast<std::size_t>(source)][i]);
      }
    }));
  }
}

// ------------------------------------------------------------------------------------------------------------- repair

TEST(RepairOfAMember, MendsDamagedCopies) {
  PartialJob job(4, 1, 100'000);  // pairs 0-1, 2-3; several hash blocks
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 100'000}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
  }));
  auto& owner = member_of(job.rank(1));
  auto& holder = member_of(job.rank(2));
  owner.memory.own_slot(0).data[399'999] ^= std::byte{1};
  holder.memory.held_slot(0).data[131'072] ^= std::byte{1};
  holder.memory.held_slot(0).table[2] ^= 1;
  expect_done(job.run([&](Rank& rank) {
    const auto found = rank.group->verify_member(kMember);
    EXPECT_EQ(found.mended, 2U);
    EXPECT_EQ(found.lost, 0U);
  }));
  job.kill(3);  // its data comes from rank 2
  job.kill(0);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, 100'000, "mended"); }));
}

TEST(RepairOfAMember, TellsAllRanksOfALoss) {
  PartialJob job(4, 1, 100);
  expect_done(job.run([&](Rank& rank) {
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
  }));
  member_of(job.rank(1)).memory.own_slot(0).data[7] ^= std::byte{1};
  member_of(job.rank(0)).memory.held_slot(0).data[7] ^= std::byte{1};
  expect_done(job.run([](Rank& rank) { EXPECT_EQ(rank.group->verify_member(kMember).lost, 1U); }));
}

}  // namespace
}  // namespace fenix_test
