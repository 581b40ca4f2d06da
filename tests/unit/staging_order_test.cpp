// SPDX-License-Identifier: BSD-3-Clause
// Staging after a store: what was stored for the snapshot stays, whichever way is taken to stage more, in each kind of group.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "api/c/attributes.hpp"
#include "support/partial_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::IntervalSet;
using fenix_impl::Policy;
using fenix_impl::Selection;

constexpr std::uint64_t kOrderCount = 1000;

/// Kinds of groups whose stored elements are in different places until the commit.
struct OrderedGroup {
  int depth;
  int in_place;
  Policy policy;
};

const OrderedGroup kOrderedGroups[] = {
    {0, 0, {}},        {2, 0, {}},
    {kKeepAll, 0, {}}, {0, 0, {Policy::Kind::parity, 1, 3, 1}},
    {0, 1, {}},        {0, 1, {Policy::Kind::parity, 1, 3, 1}},
};

/// Elements of the member, as the application sees them in its memory.
std::uint32_t* area_of(Rank& rank) {
  return reinterpret_cast<std::uint32_t*>(rank.group->staging().staging_area(member_of(rank)).data());
}

template <class Body>
void for_each_kind(std::uint64_t count, const Body& body) {
  for (const OrderedGroup& kind : kOrderedGroups) {
    SCOPED_TRACE(testing::Message() << "depth " << kind.depth << ", in place " << kind.in_place << ", policy "
                                    << static_cast<int>(kind.policy.kind));
    PartialJob job(3, kind.depth, count, kOrderCount, kind.policy, kind.in_place);
    expect_done(job.run([&](Rank& rank) { body(job, rank); }));
    expect_done(job.run(
        [&](Rank& rank) { EXPECT_EQ(rank.group->verify_all().mended, 0U) << "own data and redundancy differ"; }));
    job.kill(1);
    job.repair();
    job.form();
    expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, kOrderCount, "rebuilt"); }));
  }
}

void store_staged(Rank& rank) { store_elements(rank, kMember, Selection::staged()); }

/// Changes elements in the memory of the library, and in the model.
void write_to(Rank& rank, Elements& model, std::uint32_t* area, const IntervalSet& elements, std::uint32_t seed) {
  change(rank, model, elements, seed);
  for (const auto& each : elements.intervals()) {
    std::copy_n(rank.buffers[kMember].data() + each.first, each.count(), area + each.first);
  }
}

TEST(StagingOrder, MemoryHasWhatWasStored) {
  for_each_kind(kOrderCount, [](PartialJob& job, Rank& rank) {
    for (std::uint32_t stamp = 0; stamp < 3; ++stamp) {
      change(rank, job.model(rank), {0, kOrderCount}, 10 * stamp);
      store_elements(rank, kMember, Selection::all());
      std::uint32_t* const area = area_of(rank);
      EXPECT_TRUE(std::equal(area, area + kOrderCount, job.model(rank).words.begin())) << "stamp " << stamp;
      write_to(rank, job.model(rank), area, {7, 8}, 10 * stamp + 1);
      rank.group->staging().stage_from(member_of(rank), area, Selection::all());
      store_staged(rank);
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, kOrderCount, "one element written after a store");
    }
  });
}

TEST(StagingOrder, MemoryHasWhatWasStoredAndStaged) {
  for_each_kind(kOrderCount, [](PartialJob& job, Rank& rank) {
    change(rank, job.model(rank), {0, kOrderCount}, 1);
    store_elements(rank, kMember, Selection::all());
    commit_barrier(rank);
    change(rank, job.model(rank), {0, 500}, 2);
    store_elements(rank, kMember, Selection::some({0, 500}));
    change(rank, job.model(rank), {400, 600}, 3);
    rank.group->staging().stage(member_of(rank), Selection::some({400, 600}));
    std::uint32_t* area = area_of(rank);
    EXPECT_TRUE(std::equal(area, area + 600, job.model(rank).words.begin()));
    // A store in between: the memory is asked for again.
    store_staged(rank);
    change(rank, job.model(rank), {100, 200}, 4);
    store_elements(rank, kMember, Selection::some({100, 200}));
    area = area_of(rank);
    EXPECT_TRUE(std::equal(area, area + 600, job.model(rank).words.begin()));
    write_to(rank, job.model(rank), area, {150, 151}, 5);
    // Written elements stay there until they are staged.
    area = area_of(rank);
    rank.group->staging().stage_from(member_of(rank), area, Selection::some({0, 600}));
    store_staged(rank);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, kOrderCount, "memory over several stores");
  });
}

TEST(StagingOrder, FileBehindWhatWasStored) {
  for (const std::uint64_t count : {kOrderCount, std::uint64_t{FENIX_RESIZEABLE}}) {
    for_each_kind(count, [](PartialJob& job, Rank& rank) {
      for (std::uint32_t stamp = 0; stamp < 3; ++stamp) {
        change(rank, job.model(rank), {0, kOrderCount}, 10 * stamp);
        store_elements(rank, kMember, Selection::some({0, kOrderCount}));
        if (stamp == 2) {
          change(rank, job.model(rank), {50, 60}, 23);
          rank.group->staging().stage(member_of(rank), Selection::some({50, 60}));
        }
        std::FILE* const file = rank.group->staging().open(member_of(rank));
        Words read(kOrderCount);
        EXPECT_EQ(std::fread(read.data(), 4, kOrderCount, file), kOrderCount) << "stamp " << stamp;
        EXPECT_EQ(read, job.model(rank).words);
        change(rank, job.model(rank), {100, 101}, 10 * stamp + 1);
        ASSERT_EQ(std::fseek(file, 400, SEEK_SET), 0);
        EXPECT_EQ(std::fwrite(&rank.buffers[kMember][100], 4, 1, file), 1U);
        rank.group->staging().close(member_of(rank));
        store_staged(rank);
        commit_barrier(rank);
        expect_elements(rank, job.model(rank), kLatest, kOrderCount, "one element written to a file after a store");
      }
    });
  }
}

/// Elements that nobody has written for the snapshot are zeros in the file, whatever the slot had.
TEST(StagingOrder, FileHasZerosWhereNothingWasStored) {
  for_each_kind(kOrderCount, [](PartialJob& job, Rank& rank) {
    for (std::uint32_t stamp = 0; stamp < 4; ++stamp) {
      change(rank, job.model(rank), {0, kOrderCount}, 10 * stamp);
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
    }
    change(rank, job.model(rank), {50, 60}, 51);
    store_elements(rank, kMember, Selection::some({50, 60}));
    change(rank, job.model(rank), {80, 90}, 52);
    rank.group->staging().stage(member_of(rank), Selection::some({80, 90}));
    std::FILE* const file = rank.group->staging().open(member_of(rank));
    for (const auto& each : {IntervalSet(0, 50), IntervalSet(60, 80)}) {
      std::fill(job.model(rank).words.begin() + static_cast<std::ptrdiff_t>(each.intervals()[0].first),
                job.model(rank).words.begin() + static_cast<std::ptrdiff_t>(each.end()), 0U);
    }
    Words read(kOrderCount);
    EXPECT_EQ(std::fread(read.data(), 4, kOrderCount, file), 90U);
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + 90, job.model(rank).words.begin()));
    change(rank, job.model(rank), {99, 100}, 53);
    std::fill_n(job.model(rank).words.begin() + 90, 9, 0U);
    ASSERT_EQ(std::fseek(file, 99 * 4, SEEK_SET), 0);
    EXPECT_EQ(std::fwrite(&rank.buffers[kMember][99], 4, 1, file), 1U);
    rank.group->staging().close(member_of(rank));
    store_staged(rank);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, kOrderCount, "a file with gaps");
  });
}

/// A file that makes a member grow, after a store of its first elements.
TEST(StagingOrder, FileThatGrowsKeepsWhatWasStored) {
  for_each_kind(FENIX_RESIZEABLE, [](PartialJob& job, Rank& rank) {
    change(rank, job.model(rank), {0, 100}, 1);
    store_elements(rank, kMember, Selection::some({0, 100}));
    change(rank, job.model(rank), {150, 200}, 2);
    rank.group->staging().stage(member_of(rank), Selection::some({150, 200}));
    std::FILE* const file = rank.group->staging().open(member_of(rank));
    change(rank, job.model(rank), {100, 150}, 3);
    change(rank, job.model(rank), {200, kOrderCount}, 3);
    for (const auto& [first, end] : {std::pair(100, 150), std::pair(200, 1000)}) {
      ASSERT_EQ(std::fseek(file, first * 4, SEEK_SET), 0);
      EXPECT_EQ(std::fwrite(&rank.buffers[kMember][static_cast<std::size_t>(first)], 4,
                            static_cast<std::size_t>(end - first), file),
                static_cast<std::size_t>(end - first));
    }
    rank.group->staging().close(member_of(rank));
    store_staged(rank);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, kOrderCount, "grown by a file");
  });
}

// ------------------------------------------------------------------------------------------- memory of other snapshots

void expect_refused(Rank& rank, const void* memory) {
  try {
    (void)rank.group->staging().is_staging_area(member_of(rank), memory);
    ADD_FAILURE() << "memory of another snapshot is taken for the application's";
  } catch (const fenix_impl::Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_ARGUMENT);
  }
}

TEST(StagingOrder, MemoryOfAnEarlierSnapshotIsRefused) {
  for_each_kind(kOrderCount, [](PartialJob& job, Rank& rank) {
    std::uint32_t* const area = area_of(rank);
    write_to(rank, job.model(rank), area, {0, kOrderCount}, 1);
    rank.group->staging().stage_from(member_of(rank), area, Selection::all());
    store_staged(rank);
    commit_barrier(rank);
    expect_refused(rank, area);
    // Given out once more, the same place is good again.
    std::uint32_t* const again = area_of(rank);
    EXPECT_TRUE(rank.group->staging().is_staging_area(member_of(rank), again));
    if (again != area) expect_refused(rank, area);
    EXPECT_FALSE(rank.group->staging().is_staging_area(member_of(rank), rank.buffers[kMember].data()));
  });
}

TEST(StagingOrder, MemoryOfAnotherMemberIsRefused) {
  constexpr int kOther = kMember + 1;
  for_each_kind(kOrderCount, [&](PartialJob& job, Rank& rank) {
    change(rank, job.model(rank), {0, kOrderCount}, 1);
    store_elements(rank, kMember, Selection::all());
    auto& other =
        rank.group->definition().create_member(words(kOther), rank.buffers[kMember].data(), kOrderCount, [] {});
    for (int snapshot = 0; snapshot < 2; ++snapshot) {
      const std::byte* const area = rank.group->staging().staging_area(other).data();
      expect_refused(rank, area);
      EXPECT_TRUE(rank.group->staging().is_staging_area(other, area));
      store_elements(rank, kOther, Selection::all());
      commit_barrier(rank);
    }
  });
}

// ------------------------------------------------------------------------------------------------ a count of 0 on a rank

TEST(StagingOrder, RankThatSetsItsCountToNothingStagesAll) {
  for (const OrderedGroup& kind : kOrderedGroups) {
    PartialJob job(3, kind.depth, kOrderCount, kOrderCount, kind.policy, kind.in_place);
    expect_done(job.run([&](Rank& rank) {
      const bool has_none = rank.number == 1;
      if (has_none) fenix_impl::set_count(*rank.group, member_of(rank), 0);
      const std::uint64_t count = has_none ? 0 : kOrderCount;
      std::uint32_t* const area = area_of(rank);
      write_to(rank, job.model(rank), area, {0, count}, 1);
      rank.group->staging().stage_from(member_of(rank), area, Selection::all());
      rank.group->staging().stage(member_of(rank), Selection::all());
      store_staged(rank);
      commit_barrier(rank);
      expect_elements(rank, job.model(rank), kLatest, count, "one rank has no elements");
      EXPECT_FALSE(member_of(rank).info().resizeable);
    }));
  }
}

TEST(StagingOrder, MemberBecomesResizeableIfAllRanksSayNothing) {
  PartialJob job(3, 0, kOrderCount, kOrderCount);
  expect_done(job.run([&](Rank& rank) {
    fenix_impl::set_count(*rank.group, member_of(rank), 0);
    change(rank, job.model(rank), {0, 50}, 1);
    rank.group->staging().stage(member_of(rank), Selection::some({0, 50}));
    store_staged(rank);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, 50, "resizeable now");
    EXPECT_TRUE(member_of(rank).info().resizeable);
  }));
}

/// Only the meeting shows that the member has no element on the rank which has staged some.
TEST(StagingOrder, ElementsBeyondAMemberAreRefusedInTheStore) {
  PartialJob job(3, 0, kOrderCount, kOrderCount);
  const auto stage = [&](Rank& rank) {
    change(rank, job.model(rank), {0, 50}, 1);
    rank.group->staging().stage(member_of(rank), Selection::some({0, 50}));
  };
  expect_done(job.run([&](Rank& rank) {
    if (rank.number == 1) fenix_impl::set_count(*rank.group, member_of(rank), 0);
    stage(rank);
  }));
  expect_error(job.run([&](Rank& rank) { store_staged(rank); }), FENIX_ERROR_SUBSET_END_OFFSET);
  expect_done(job.run([&](Rank& rank) {
    if (rank.number == 1) job.model(rank).clear();
    store_staged(rank);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, rank.number == 1 ? 0 : kOrderCount, "without what was refused");
  }));
}

}  // namespace
}  // namespace fenix_test
