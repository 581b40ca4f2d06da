// SPDX-License-Identifier: BSD-3-Clause
// What stores and commits of a redundancy set encode, and when: only what has changed, early where that is possible, and commits
// that one rank cannot make.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "parity/stripes.hpp"
#include "support/encoded.hpp"
#include "support/partial_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::IntervalSet;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::Request;
using fenix_impl::Selection;
using fenix_impl::Stripes;

constexpr std::uint64_t kCount = 100'000;

constexpr Encoded kBoth[] = {{4, kParity}, {5, kTwoLosses}};

void store_and_commit(PartialJob& job, const IntervalSet& elements, unsigned seed) {
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), elements, seed + static_cast<unsigned>(rank.number));
    store_elements(rank, kMember, Selection::some(elements));
    commit_barrier(rank);
  }));
}

void expect_rebuilt(PartialJob& job, const std::vector<int>& dead, std::uint64_t count = kCount) {
  for (const int rank : dead) job.kill(rank);
  job.repair();
  job.form();
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, count, "rebuilt"); }));
}

std::shared_ptr<Request> begin(Rank& rank, const Selection& selection) {
  Member* const member = &member_of(rank);
  return rank.group->stores().store_asynchronously(std::span(&member, 1), selection, 1);
}

// ---------------------------------------------------------------------------------------------------------------- delta

// All parity is spoilt on purpose: what a commit computes anew is right again, the rest stays spoilt until it is verified.
TEST(ParityDelta, TouchesOnlyWhatHasChanged) {
  constexpr std::uint64_t kElement = 70'000;
  for (const auto& [size, policy] : kBoth) {
    PartialJob job(size, 0, kCount, 0, policy);
    // Each slot is used, and known to all from then on.
    for (unsigned stamp = 0; stamp < 4; ++stamp) store_and_commit(job, {0, kCount}, 10 * stamp);
    for (unsigned stamp = 0; stamp < 2; ++stamp) store_and_commit(job, {0, 1}, 100 * stamp + 7);
    for (Rank& rank : job.ranks()) {
      Member& member = member_of(rank);
      for (const std::uint32_t slot : {0U, 1U}) {
        for (std::byte& each : member.memory.held_slot(slot).data) each ^= std::byte{0xff};
      }
    }
    expect_done(job.run([&](Rank& rank) {
      const IntervalSet elements = rank.number == 1 ? IntervalSet(kElement, kElement + 1) : IntervalSet();
      change(rank, job.model(rank), elements, 1000);
      store_elements(rank, kMember, Selection::some(elements));
      commit_barrier(rank);
    }));
    std::vector<std::array<std::vector<std::byte>, 2>> before;
    for (Rank& rank : job.ranks()) {
      auto& slots = before.emplace_back();
      for (const std::uint32_t slot : {0U, 1U}) {
        const auto held = member_of(rank).memory.held_slot(slot).data;
        slots[slot].assign(held.begin(), held.end());
      }
    }
    // It mends the parity of the latest snapshot.
    expect_done(job.run([](Rank& rank) { EXPECT_EQ(rank.group->verify_all().lost, 0U); }));
    const int parity = policy.losses;
    const Stripes stripes(size, parity, Stripes::unit_for(kCount * 4, size - parity, false));
    for (Rank& rank : job.ranks()) {
      IntervalSet computed;
      for (int other = 0; other < size; ++other) {
        // Element 0 was stored in the commit before, to the other slot.
        IntervalSet changed(0, 4);
        if (other == 1) changed = changed | IntervalSet(kElement * 4, kElement * 4 + 4);
        computed = computed | stripes.parity_of(rank.number, other, changed);
      }
      int mended = 0;
      for (const std::uint32_t slot : {0U, 1U}) {
        const auto held = member_of(rank).memory.held_slot(slot).data;
        const auto& old = before[static_cast<std::size_t>(rank.number)][slot];
        if (std::equal(held.begin(), held.end(), old.begin())) continue;
        ++mended;
        for (std::uint64_t byte = 0; byte < held.size(); ++byte) {
          ASSERT_EQ(held[byte] == old[byte], computed.covers(byte, byte + 1))
              << "rank " << rank.number << " byte " << byte;
        }
      }
      EXPECT_EQ(mended, 1) << "rank " << rank.number;
    }
    expect_rebuilt(job, {1});
  }
}

TEST(ParityDelta, IsRightOverManyCommits) {
  for (const int depth : {0, 1, 3, kKeepAll}) {
    for (const auto& [size, policy] : kBoth) {
      SCOPED_TRACE(testing::Message() << "depth " << depth << ", " << size << " ranks");
      PartialJob job(size, depth, 3'001, 0, policy);
      store_and_commit(job, {0, 3'001}, 1);
      for (unsigned stamp = 1; stamp < 16; ++stamp) {
        expect_done(job.run([&](Rank& rank) {
          const std::uint64_t first = (stamp * 397 + static_cast<unsigned>(rank.number) * 911) % 2'900;
          // With gaps, on some ranks nothing, on some commits nowhere.
          IntervalSet elements = IntervalSet(first, first + 1) | IntervalSet(first + 7, first + 90);
          if ((stamp + static_cast<unsigned>(rank.number)) % 4 == 0) elements = {};
          if (stamp % 5 != 0) {
            change(rank, job.model(rank), elements, stamp);
            store_elements(rank, kMember, Selection::some(elements));
          }
          rank.group->commit();
          rank.group->wait_for_commit_on_all();
          const auto found = rank.group->verify_all();
          EXPECT_EQ(found.mended + found.lost, 0U) << "time stamp " << stamp;
        }));
        if (testing::Test::HasFailure()) return;
      }
      expect_rebuilt(job, {static_cast<int>(depth + 1) % size}, 3'001);
    }
  }
}

// Ranks that do not wait for each other take different slots, of different age.
TEST(ParityDelta, IsRightWhereRanksAreOfDifferentSpeed) {
  for (const auto& [size, policy] : kBoth) {
    PartialJob job(size, 2, 3'001, 0, policy);
    store_and_commit(job, {0, 3'001}, 1);
    for (unsigned round = 0; round < 12 && !testing::Test::HasFailure(); ++round) {
      expect_done(job.run([&](Rank& rank) {
        for (unsigned stamp = 0; stamp < 5; ++stamp) {
          const auto number = static_cast<unsigned>(rank.number);
          // Before it takes its slot, a rank may or may not have heard from the others.
          if ((number + stamp + round) % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
          const std::uint64_t first = (round * 397 + stamp * 53 + number * 911) % 2'900;
          change(rank, job.model(rank), {first, first + 3}, round * 10 + stamp);
          store_elements(rank, kMember, Selection::some({first, first + 3}));
          rank.group->commit();
          // Snapshots that share a slot leave others to choose from.
          if ((stamp + round) % 3 != 0) rank.group->commit();
        }
        rank.group->wait_for_commit_on_all();
        const auto found = rank.group->verify_all();
        EXPECT_EQ(found.mended + found.lost, 0U) << "round " << round;
      }));
    }
    expect_rebuilt(job, {1}, 3'001);
  }
}

// Bytes of a slot that belong to no element are in the parity of the others all the same.
TEST(ParityDelta, BytesWithoutAValueAreMadeAnewToo) {
  for (const int hashing : {1, 0}) {
    PartialJob job(4, 0, 500, 0, kParity);
    expect_done(job.run([&](Rank& rank) {
      rank.group->policy_change().set_hashing(hashing != 0, [] {});
      std::fill(rank.buffers[kMember].begin(), rank.buffers[kMember].end(), 0x12345678U);
      if (rank.number == 1) rank.group->staging().stage(member_of(rank), Selection::all());
    }));
    job.repair();
    job.form();
    expect_done(job.run([&](Rank& rank) {
      const IntervalSet elements = rank.number == 1 ? IntervalSet() : IntervalSet(0, 500);
      change(rank, job.model(rank), elements, static_cast<unsigned>(rank.number));
      store_elements(rank, kMember, Selection::some(elements));
      commit_barrier(rank);
    }));
    EXPECT_EQ(member_of(job.rank(1)).memory.own_slot(0).data[0], std::byte{0x78}) << "the test is about nothing";
    expect_rebuilt(job, {1}, 500);
    expect_rebuilt(job, {2}, 500);
  }
}

// Records and announcements have room for members in one piece; those of ten thousand pieces take pages that were not reserved.
TEST(ManyPieces, OutliveADeath) {
  constexpr std::uint64_t kElements = 20'001;
  std::vector<fenix_impl::Interval> odd;
  for (std::uint64_t i = 1; i < kElements; i += 2) odd.push_back({i, i + 1});
  for (const auto& [size, policy] : {Encoded{2, {}}, kBoth[0], kBoth[1]}) {
    PartialJob job(size, 0, kElements, 0, policy);
    // Announcements have pieces when each slot has a snapshot that differs in them.
    for (unsigned stamp = 0; stamp < 4; ++stamp) store_and_commit(job, IntervalSet::of(odd), stamp);
    expect_rebuilt(job, {1}, kElements);
    store_and_commit(job, {0, 1}, 4);
    expect_rebuilt(job, {0}, kElements);
  }
}

// --------------------------------------------------------------------------------------------------------- asynchronous

TEST(ParityAsynchronous, IsEncodedWithoutACallOfTheGroup) {
  for (const auto& [size, policy] : kBoth) {
    PartialJob job(size, 0, kCount, 0, policy);
    for (unsigned stamp = 0; stamp < 4; ++stamp) {
      expect_done(job.run([&](Rank& rank) {
        const IntervalSet elements = stamp < 2 ? IntervalSet(0, kCount) : IntervalSet(stamp * 1'000, 60'000);
        change(rank, job.model(rank), elements, stamp);
        const auto request = begin(rank, Selection::some(elements));
        std::fill(rank.buffers[kMember].begin(), rank.buffers[kMember].end(), 0U);
        while (request->pending()) std::this_thread::yield();
        EXPECT_EQ(request->state(), Request::State::done);
        EXPECT_TRUE(rank.group->requests().is_finished(*request));
        EXPECT_EQ(member_of(rank).working().encoded(), elements);
        commit_barrier(rank);
        expect_elements(rank, job.model(rank), kLatest, kCount, "asynchronous");
        EXPECT_EQ(rank.group->verify_all().mended, 0U);
      }));
      expect_rebuilt(job, {static_cast<int>(stamp) % size});
    }
  }
}

// What comes after the early encoding, over the same elements too, is not forgotten.
TEST(ParityAsynchronous, WithFurtherStoresBeforeTheCommit) {
  for (const auto& [size, policy] : kBoth) {
    PartialJob job(size, 1, kCount, 0, policy);
    for (unsigned stamp = 0; stamp < 6; ++stamp) {
      expect_done(job.run([&](Rank& rank) {
        const auto store_later = [&](const IntervalSet& elements, unsigned seed, bool asynchronous) {
          change(rank, job.model(rank), elements, seed + static_cast<unsigned>(rank.number));
          if (asynchronous) {
            rank.group->requests().wait_for(*begin(rank, Selection::some(elements)));
          } else {
            store_elements(rank, kMember, Selection::some(elements));
          }
        };
        if (stamp == 0) store_later({0, kCount}, 1, true);
        store_later({10'000, 50'000}, 10 * stamp, true);
        store_later({5'000, 15'000}, 10 * stamp + 2, true);
        store_later({20'000, 20'001}, 10 * stamp + 4, false);
        store_later({49'999, 60'000}, 10 * stamp + 3, false);
        rank.group->staging().stage(member_of(rank), Selection::some({1, 2}));
        store_elements(rank, kMember, Selection::staged());
        commit_barrier(rank);
        const auto found = rank.group->verify_all();
        EXPECT_EQ(found.mended + found.lost, 0U) << "time stamp " << stamp;
      }));
    }
    expect_rebuilt(job, policy.losses == 1 ? std::vector<int>{2} : std::vector<int>{2, 3});
  }
}

// The redundancy set must not take the refusal for what the store has to say, nor the other way round.
TEST(ParityAsynchronous, PendingAtTheCommitIsAnErrorForAllOrForNone) {
  for (int round = 0; round < 10; ++round) {
    PartialJob job(4, 0, 1'000'000, 0, kParity);
    std::array<bool, 4> committed{};
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {0, 1'000}, 3);
      const auto request = begin(rank, Selection::all());
      // Ranks 1 to 3 have waited.
      if (rank.number != 0) rank.group->requests().wait_for(*request);
      try {
        rank.group->commit();
        committed[static_cast<std::size_t>(rank.number)] = true;
      } catch (const fenix_impl::Error& error) {
        EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_LOGIC_CALL);
      }
      rank.team->barrier();
      EXPECT_EQ(committed[static_cast<std::size_t>(rank.number)], committed[0]);
      if (!committed[0]) rank.group->commit();
      rank.group->wait_for_commit_on_all();
      EXPECT_EQ(rank.group->snapshots().on_all(), std::vector<int>{0});
      const auto found = rank.group->verify_all();
      EXPECT_EQ(found.mended + found.lost, 0U);
    }));
  }
}

TEST(ParityAsynchronous, IsCancelledByADeath) {
  for (const bool at_once : {false, true}) {
    PartialJob job(4, 0, kCount, 0, kParity);
    store_and_commit(job, {0, kCount}, 1);
    std::vector<std::shared_ptr<Request>> requests(4);
    // Rank 1 does not store: the others' requests wait for it.
    expect_done(job.run([&](Rank& rank) {
      if (rank.number == 1) return;
      requests[static_cast<std::size_t>(rank.number)] = begin(rank, Selection::some({0, 500}));
    }));
    if (!at_once) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    job.kill(1);
    const auto outcomes =
        job.run([&](Rank& rank) { rank.group->requests().wait_for(*requests[static_cast<std::size_t>(rank.number)]); });
    for (const int rank : {0, 2, 3}) EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].ending, Ending::failure_seen);
    job.repair();
    for (const int rank : {0, 2, 3}) {
      EXPECT_EQ(requests[static_cast<std::size_t>(rank)]->state(), Request::State::cancelled);
    }
    job.form();
    expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, kCount, "as committed"); }));
    store_and_commit(job, {5, 5'000}, 2);
    expect_rebuilt(job, {3});
  }
}

// A rank dies at any step of asynchronous stores and the commit after them.
TEST(ParityAsynchronous, OutlivesADeathAtAnyStep) {
  for (int steps = 0;; steps += 17) {
    SCOPED_TRACE(testing::Message() << "after " << steps << " steps");
    PartialJob job(4, steps % 2, 5'000, 0, kParity);
    store_and_commit(job, {0, 5'000}, 1);
    const auto models = job.models;
    const int dying = steps % 4;
    job.doom(dying, steps);
    auto changed = job.models;
    const auto outcomes = job.run([&](Rank& rank) {
      change(rank, changed[static_cast<std::size_t>(rank.number)], {100, 4'000}, 2);
      rank.group->requests().wait_for(*begin(rank, Selection::some({100, 4'000})));
      rank.group->commit();
      rank.team->barrier();
    });
    const bool lives = outcomes[static_cast<std::size_t>(dying)] == Ending::done;
    if (!lives) {
      job.kill(dying);
      job.rank(dying).lose_everything();
    }
    job.repair();
    job.form();
    const int newest = job.rank(0).group->snapshots().on_all().front();
    job.models = newest == 1 ? changed : models;
    expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, 5'000, "rebuilt"); }));
    store_and_commit(job, {3, 4'500}, 3);
    expect_rebuilt(job, {(dying + 1) % 4}, 5'000);
    if (lives || testing::Test::HasFailure()) return;
  }
}

// -------------------------------------------------------------------------------------------- commits that cannot be made

TEST(ParityCommit, ThatOneRankCannotMakeFailsInItsCohort) {
  for (const int depth : {0, kKeepAll}) {
    PartialJob job(6, depth, 500, 0, parity(3));  // 0 1 2, 3 4 5
    store_and_commit(job, {0, 500}, 1);
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {10, 20}, 2);
      store_elements(rank, kMember, Selection::some({10, 20}));
      if (rank.number == 1) rank.group->staging().stage(member_of(rank), Selection::some({10, 11}));
    }));
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto outcomes = job.run([](Rank& rank) {
        // At depth -1 commits are a meeting of all.
        if (rank.number < 3 || rank.group->parameters().depth == kKeepAll) rank.group->commit();
      });
      for (const int rank : {0, 1, 2}) {
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].ending, Ending::error) << outcomes[0];
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].code, FENIX_ERROR_INVALID_LOGIC_CALL);
      }
      expect_done(job.run([](Rank& rank) { EXPECT_EQ(rank.group->snapshots().on_all(), std::vector<int>{0}); }));
    }
    expect_done(job.run([&](Rank& rank) {
      if (rank.number == 1) store_elements(rank, kMember, Selection::some({10, 11}));
      if (rank.group->parameters().depth == kKeepAll && rank.number != 1)
        store_elements(rank, kMember, Selection::some({10, 11}));
      commit_barrier(rank);
      EXPECT_EQ(rank.group->snapshots().on_all().front(), 1);
      expect_elements(rank, job.model(rank), kLatest, 500, "committed later");
      const auto found = rank.group->verify_all();
      EXPECT_EQ(found.mended + found.lost, 0U);
    }));
    expect_rebuilt(job, {1, 4}, 500);
  }
}

TEST(ParityCommit, OfDifferentMembersIsAMismatchForAll) {
  PartialJob job(4, 0, 500, 0, kParity);
  store_and_commit(job, {0, 500}, 1);
  expect_done(job.run([](Rank& rank) { provide(rank, kSmall + 1); }));
  expect_done(job.run([](Rank& rank) {
    store(rank, kSmall + 1, 0);
    commit_barrier(rank);
  }));
  expect_error(job.run([&](Rank& rank) {
    if (rank.number == 2) {
      store_elements(rank, kMember, Selection::some({1, 2}));
    } else {
      store(rank, kSmall + 1, 1);
    }
    rank.group->commit();
  }),
               FENIX_ERROR_MISMATCH);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 9}, 4);
    store_elements(rank, kMember, Selection::some({0, 9}));
    store(rank, kSmall + 1, 1);
    commit_barrier(rank);
  }));
  expect_rebuilt(job, {2}, 500);
}

// A refused commit before it: announcements are counted from the start.
TEST(ParityCommit, WorksAfterRefusals) {
  for (const Policy& policy : {kParity, reed_solomon(4, 2)}) {
    PartialJob job(4, 0, 500, 0, policy);
    for (int attempt = 0; attempt < 3; ++attempt) {
      expect_error(job.run([](Rank& rank) {
        if (rank.number == 0) (void)rank.group->staging().open(member_of(rank));
        try {
          rank.group->commit();
        } catch (const fenix_impl::Error& error) {
          EXPECT_EQ(error.code(), rank.number == 0 ? FENIX_ERROR_MEMBER_STAGING : FENIX_ERROR_INVALID_LOGIC_CALL);
          if (rank.number == 0) rank.group->staging().close(member_of(rank));
          throw fenix_impl::Error(FENIX_ERROR_INVALID_LOGIC_CALL, error.what());
        }
      }),
                   FENIX_ERROR_INVALID_LOGIC_CALL);
    }
    for (unsigned stamp = 0; stamp < 4; ++stamp) store_and_commit(job, {0, 500}, stamp);
    expect_rebuilt(job, {1}, 500);
  }
}

constexpr int kOther = kSmall + 1;

// What one rank carries on, and another one has deleted, cannot be encoded together.
TEST(ParityCommit, ThatCarriesOnOtherSnapshotsIsAMismatchForAll) {
  for (const int depth : {0, 1}) {
    PartialJob job(4, depth, 500, 0, kParity);
    expect_done(job.run([](Rank& rank) { provide(rank, kOther); }));
    expect_done(job.run([&](Rank& rank) { store(rank, kOther, 0); }));
    // Rank 1 has nothing to carry on then, or an older snapshot.
    for (int commit = 0; commit <= depth; ++commit) store_and_commit(job, {0, 500}, 1);
    expect_error(job.run([](Rank& rank) {
      if (rank.number == 1) rank.group->delete_snapshot(kLatest);
      store(rank, kOther, 1);
      rank.group->commit();
    }),
                 FENIX_ERROR_MISMATCH);
    store_and_commit(job, {0, 500}, 2);
    job.kill(2);
    job.repair();
    job.form();
    expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, 500, "rebuilt"); }));
    expect_done(job.run([](Rank& rank) { EXPECT_EQ(restore(rank, kOther), contents(rank.origin, kOther, 1)); }));
  }
}

// Asynchronous stores that do not fit together are sorted out by the commit, which does not need them.
TEST(ParityAsynchronous, OfDifferentMembersDoesNotBlockLaterCommits) {
  PartialJob job(4, 0, 500, 0, kParity);
  expect_done(job.run([](Rank& rank) { provide(rank, kOther); }));
  expect_done(job.run([&](Rank& rank) { store(rank, kOther, 0); }));
  store_and_commit(job, {0, 500}, 1);
  expect_done(job.run([&](Rank& rank) {
    Member* const member = rank.group->find(rank.number == 0 ? kMember : kOther);
    change(rank, job.model(rank), {0, 500}, 2);
    Words& buffer = rank.buffers.at(kOther);
    const auto data = contents(rank.origin, kOther, 1);
    std::copy(data.begin(), data.end(), buffer.begin());
    auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
    rank.group->requests().wait_for(*request);
  }));
  expect_error(job.run([](Rank& rank) { rank.group->commit(); }), FENIX_ERROR_MISMATCH);
  expect_done(job.run([&](Rank& rank) {
    store_elements(rank, kMember, Selection::all());
    store_elements(rank, kOther, Selection::all());
    commit_barrier(rank);
  }));
  expect_rebuilt(job, {3}, 500);
  expect_done(job.run([](Rank& rank) { EXPECT_EQ(restore(rank, kOther), contents(rank.origin, kOther, 1)); }));
}

// -------------------------------------------------------------------------------------------------------------- no redundancy

// A rank that has not committed yet has not lost data: there is no snapshot then.
TEST(LocalPolicy, WhatNotAllLivingRanksHaveCommittedIsNoSnapshot) {
  PartialJob job(3, 1, 500, 0, {Policy::Kind::local, 1, 0, 0});
  expect_done(job.run([&](Rank& rank) {
    store_elements(rank, kMember, Selection::all());
    if (rank.number == 0) rank.group->commit();
  }));
  job.kill(1);
  job.repair();
  job.form(/*expect_lost=*/true);
  expect_done(
      job.run([](Rank& rank) { EXPECT_TRUE(rank.group->snapshots().on_all().empty()) << "rank " << rank.number; }));
  expect_error(job.run([](Rank& rank) { (void)restore(rank, kMember); }), FENIX_ERROR_NODATA_FOUND);
}

TEST(LocalPolicy, SurvivorsKeepTheirSnapshots) {
  PartialJob job(4, 1, 500, 0, {Policy::Kind::local, 1, 0, 0});
  for (unsigned stamp = 0; stamp < 3; ++stamp) store_and_commit(job, {0, 500}, stamp);
  for (const int dead : {2, 0}) {
    job.kill(dead);
    job.repair();
    job.form();
    const auto expect_restored_but = [&](const std::map<int, int>& codes) {
      const auto outcomes = job.run([&](Rank& rank) {
        if (codes.count(rank.number) != 0) {
          (void)restore(rank, kMember);
        } else {
          expect_elements(rank, job.model(rank), kLatest, 500, "kept");
        }
      });
      for (int rank = 0; rank < 4; ++rank) {
        const auto code = codes.find(rank);
        const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
        EXPECT_EQ(outcome.ending, code != codes.end() ? Ending::error : Ending::done)
            << "rank " << rank << ": " << outcome;
        if (code != codes.end()) {
          EXPECT_EQ(outcome.code, code->second) << "rank " << rank;
        }
      }
    };
    constexpr int kNoData = FENIX_ERROR_NODATA_FOUND;
    constexpr int kNoMember = FENIX_ERROR_INVALID_MEMBERID;
    expect_restored_but(dead == 2 ? std::map<int, int>{{2, kNoMember}}
                                  : std::map<int, int>{{0, kNoMember}, {2, kNoData}});
    Member& member = *job.rank(dead).group->find(kMember);
    member.claim(member.buffer());
    expect_restored_but(dead == 2 ? std::map<int, int>{{2, kNoData}} : std::map<int, int>{{0, kNoData}, {2, kNoData}});
  }
  store_and_commit(job, {0, 500}, 9);
  expect_done(job.run([&](Rank& rank) {
    EXPECT_EQ(rank.group->snapshots().on_all().front(), 3);
    expect_elements(rank, job.model(rank), kLatest, 500, "time stamps go on");
  }));
}

}  // namespace
}  // namespace fenix_test
