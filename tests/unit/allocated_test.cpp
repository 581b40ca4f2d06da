// SPDX-License-Identifier: BSD-3-Clause
// Members whose buffers the library has allocated: commits in place read the buffers of other ranks where they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/any_step.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;

constexpr int kStrideAllocated = 31;
const Encoded kPoliciesAllocated[] = {{4, parity(4)}, {5, reed_solomon(5, 2)}, {5, parity(2)}};

GroupParameters committing_in_place(const fenix_impl::Policy& policy) {
  GroupParameters parameters{5, 0, 0, policy};
  parameters.in_place = 1;
  return parameters;
}

// Whether data has gone through the bounce buffers of a rank.
bool has_bounced(Rank& rank) {
  const auto bounce = rank.group->log().memory().control().bounce;
  return std::any_of(bounce.begin(), bounce.end(), [](std::byte byte) { return byte != std::byte{0}; });
}

void take_up_allocated(Rank& rank, const GroupParameters& parameters) {
  rank.allocates = true;
  join(rank, parameters);
  provide(rank, kLarge);
  provide(rank, kUneven);
}

TEST(Allocated, OtherRanksReadBuffersWhereTheyAre) {
  for (const Encoded& each : kPoliciesAllocated) {
    SCOPED_TRACE(testing::Message() << each);
    const GroupParameters parameters = committing_in_place(each.policy);
    Job job(each.size);
    expect_done(job.run([&](Rank& rank) {
      take_up_allocated(rank, parameters);
      for (int stamp = 0; stamp < 3; ++stamp) {
        store_until_commit(rank, kLarge, stamp);
        store_until_commit(rank, kUneven, stamp);
        commit_barrier(rank);
        EXPECT_FALSE(has_bounced(rank)) << "rank " << rank.number;
      }
      const auto verified = rank.group->verify_all();
      EXPECT_EQ(verified.mended, 0U);
      EXPECT_EQ(verified.lost, 0U);
    }));
    job.kill(1);
    job.repair();
    expect_done(job.run([&](Rank& rank) {
      take_up_allocated(rank, parameters);
      for (const int member : {kLarge, kUneven}) EXPECT_EQ(restore(rank, member), contents(rank.origin, member, 2));
    }));
  }
}

// The buffers have other elements, too, than the snapshot: then they are no source for the parity of the others.
TEST(Allocated, PartsOfABufferAreNotReadThere) {
  const GroupParameters parameters = committing_in_place(parity(3));
  Job job(3);
  // Elements that rank 2 stores in its second commit.
  constexpr std::size_t kFirst = 100;
  constexpr std::size_t kEnd = 1700;
  const auto expected = [&](int rank) {
    const Words first = contents(rank, kLarge, 0);
    const Words second = contents(rank, kLarge, 1);
    if (rank != 2) return second;
    Words both = first;
    std::copy(second.begin() + kFirst, second.begin() + kEnd, both.begin() + kFirst);
    return both;
  };
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    store_until_commit(rank, kLarge, 0);
    commit_barrier(rank);
    const auto buffer = source_buffer(rank, kLarge);
    const Words second = contents(rank.number, kLarge, 1);
    std::copy(second.begin(), second.end(), buffer.begin());
    if (rank.number == 2) {
      std::fill(buffer.begin(), buffer.begin() + kFirst, 0xdeadbeefU);
      store_elements(rank, kLarge, fenix_impl::Selection::some(fenix_impl::IntervalSet(kFirst, kEnd)));
    } else {
      store_elements(rank, kLarge, fenix_impl::Selection::all());
    }
    commit_barrier(rank);
    EXPECT_TRUE(has_bounced(rank)) << "rank " << rank.number;
    EXPECT_EQ(restore(rank, kLarge), expected(rank.number));
  }));
  for (const int dying : {2, 0}) {
    job.kill(dying);
    job.repair();
    expect_done(job.run([&](Rank& rank) {
      take_up_allocated(rank, parameters);
      EXPECT_EQ(restore(rank, kLarge), expected(rank.number))
          << "rank " << rank.number << " after " << dying << " died";
    }));
  }
}

TEST(Allocated, BuffersStayOnSurvivorsWhereTheJobShrinksThoughASpareJoins) {
  const GroupParameters parameters{5, 0, 0, {}};
  Job job(4);
  std::vector<std::span<std::uint32_t>> buffers(4);
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    store_until_commit(rank, kLarge, 0);
    commit_barrier(rank);
    auto& buffer = buffers[static_cast<std::size_t>(rank.number)] = source_buffer(rank, kLarge);
    std::fill(buffer.begin(), buffer.end(), 7U + static_cast<std::uint32_t>(rank.number));
  }));
  job.kill(2);
  job.kill(3);
  job.rank(2).alive = true;
  job.shrink();
  expect_done(job.run([&](Rank& rank) {
    rank.allocates = true;
    join(rank, parameters);
    EXPECT_EQ(rank.group->find(kLarge), nullptr) << "nobody knows how much the new rank has";
    provide(rank, kLarge);
    if (rank.origin >= 2) return;
    const auto& buffer = buffers[static_cast<std::size_t>(rank.origin)];
    EXPECT_EQ(source_buffer(rank, kLarge).data(), buffer.data());
    EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 7U + static_cast<std::uint32_t>(rank.origin)), buffer.size());
  }));
}

// The memory of the member has been exposed, and that of its buffer not: all goes on in the memory that there was.
TEST(Allocated, DataIsSafeAfterAGrowthThatFailedHalfWay) {
  const GroupParameters parameters{5, 0, 0, {}};
  Job job(3);
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    fenix_impl::Member& member = *rank.group->find(kLarge);
    const std::uint64_t before = member.own_count();
    member.redefine_count(before + 100'000);
    if (rank.number == 1) rank.path->expose_at_most(1);
    rank.group->take_in_definition(member);
    rank.path->expose_at_most(-1);
    member.redefine_count(before);
    store_until_commit(rank, kLarge, 0);
    commit_barrier(rank);
  }));
  job.kill(0);
  job.repair();
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    EXPECT_EQ(restore(rank, kLarge), contents(rank.origin, kLarge, 0));
  }));
}

// A buffer of the application beside those of the library.
TEST(Allocated, ABufferOfTheApplicationIsNoneOfThem) {
  const GroupParameters parameters = committing_in_place(parity(3));
  Job job(3);
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    Words own = contents(rank.number, kLarge, 0);
    if (rank.number == 1) {
      rank.group->find(kLarge)->set_buffer(own.data());
    } else {
      const auto buffer = source_buffer(rank, kLarge);
      std::copy(own.begin(), own.end(), buffer.begin());
    }
    store_elements(rank, kLarge, fenix_impl::Selection::all());
    commit_barrier(rank);
    EXPECT_TRUE(has_bounced(rank)) << "rank " << rank.number;
  }));
  job.kill(1);
  job.repair();
  expect_done(job.run([&](Rank& rank) {
    take_up_allocated(rank, parameters);
    EXPECT_EQ(restore(rank, kLarge), contents(rank.number, kLarge, 0));
  }));
}

// Survivors keep address and contents, also if nobody knows any more how much a lost rank had: then the member is made anew.
TEST(Allocated, BuffersOfSurvivorsStay) {
  for (const int also : {kNone, 2}) {
    SCOPED_TRACE(testing::Message() << "dies too: " << also);
    const GroupParameters parameters = committing_in_place(parity(4));
    Job job(4);
    std::vector<std::uint32_t*> places(4);
    expect_done(job.run([&](Rank& rank) {
      take_up_allocated(rank, parameters);
      store_until_commit(rank, kLarge, 0);
      commit_barrier(rank);
      const auto buffer = source_buffer(rank, kLarge);
      places[static_cast<std::size_t>(rank.number)] = buffer.data();
      std::fill(buffer.begin(), buffer.end(), 0x1234U);
    }));
    job.kill(1);
    if (also != kNone) job.kill(also);
    job.repair();
    expect_done(job.run([&](Rank& rank) {
      take_up_allocated(rank, parameters);
      const auto buffer = source_buffer(rank, kLarge);
      if (rank.number != 1 && rank.number != also) {
        EXPECT_EQ(buffer.data(), places[static_cast<std::size_t>(rank.number)]);
        EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](std::uint32_t word) { return word == 0x1234U; }));
      }
      store_until_commit(rank, kLarge, 1);
      store_until_commit(rank, kUneven, 1);
      commit_barrier(rank);
      EXPECT_FALSE(has_bounced(rank)) << "rank " << rank.number;
    }));
  }
}

TEST(Allocated, NothingOnAllRanksIsRefused) {
  Job job(3);
  expect_error(job.run([](Rank& rank) {
    join(rank, committing_in_place(parity(3)));
    allocate(rank, kLarge, 0);
  }),
               FENIX_ERROR_INVALID_ARGUMENT);
}

TEST(AnyStepAllocated, OfStoringAndCommitting) {
  for (const Encoded& each : kPoliciesAllocated) {
    lose_one_at_any_step(each, kStrideAllocated, [&](int) { return Application::allocated(each.size, each.policy); });
  }
}

TEST(AnyStepAllocated, OfStoringAndCommittingForTwo) {
  const Encoded each{5, reed_solomon(5, 2)};
  lose_two_at_any_step(each, kStrideAllocated, [&](int) { return Application::allocated(each.size, each.policy); });
}

}  // namespace
}  // namespace fenix_test
