// SPDX-License-Identifier: BSD-3-Clause
// Programs that store everything each time, though little of it has changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/simd/slot_hashes.hpp"
#include "support/encoded.hpp"
#include "support/group_data.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::kHashBlock;
using fenix_impl::Policy;

constexpr int kLargeMember = 1;
constexpr std::size_t kWordsOfABlock = kHashBlock / 4;
// The last block is not whole.
constexpr std::size_t kWordsOfAMember = 9 * kWordsOfABlock + 1000;

struct Kind {
  Policy policy;
  bool in_place;
};

const Kind kKinds[] = {{{Policy::Kind::buddies, 2, 0, 1}, false},
                       {{Policy::Kind::buddies, 2, 0, 1}, true},
                       {{Policy::Kind::ring, 1, 0, 1}, true},
                       {parity(4), false},
                       {parity(4), true},
                       {reed_solomon(4, 2), false},
                       {reed_solomon(4, 2), true}};

GroupParameters parameters_of(const Kind& kind) {
  GroupParameters parameters{5, 0, 0, kind.policy};
  parameters.in_place = kind.in_place ? 1 : 0;
  return parameters;
}

void provide_large(Rank& rank) {
  Words& buffer = rank.buffers[kLargeMember];
  buffer.resize(kWordsOfAMember);
  if (auto* known = rank.group->find(kLargeMember)) {
    known->set_buffer(buffer.data());
  } else {
    rank.group->definition().create_member(words(kLargeMember), buffer.data(), buffer.size(), [] {});
  }
}

Words restore_large(Rank& rank) {
  Words target(kWordsOfAMember);
  (void)rank.group->restore(kLargeMember, snapshot(std::nullopt), {target.data(), target.size()}, [] {});
  return target;
}

void commit_all(Rank& rank, const Words& data) {
  rank.buffers.at(kLargeMember) = data;
  // The address stays.
  rank.group->find(kLargeMember)->set_buffer(rank.buffers.at(kLargeMember).data());
  store_elements(rank, kLargeMember, fenix_impl::Selection::all());
  commit_barrier(rank);
}

// Changes some blocks, or parts of them.
void change(Words& data, std::mt19937& random, double share) {
  for (std::size_t block = 0; block * kWordsOfABlock < data.size(); ++block) {
    if (std::uniform_real_distribution<double>(0, 1)(random) >= share) continue;
    const std::size_t begin = block * kWordsOfABlock;
    const std::size_t length = std::min(kWordsOfABlock, data.size() - begin);
    const std::size_t at = random() % length;
    data[begin + at] = static_cast<std::uint32_t>(random());
  }
}

// Whatever has changed, and however often: what comes back after a death is what was stored last.
TEST(Unchanged, DataComesBackWhateverHasChanged) {
  for (const Kind& kind : kKinds) {
    for (const double share : {0.0, 0.15, 0.5, 1.0}) {
      SCOPED_TRACE(testing::Message() << "policy " << static_cast<int>(kind.policy.kind)
                                      << (kind.in_place ? " in place" : "") << ", share " << share);
      Job job(4);
      std::vector<Words> stored(4, Words(kWordsOfAMember));
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters_of(kind));
        provide_large(rank);
        std::mt19937 random(static_cast<unsigned>(rank.number + 1));
        Words& data = stored[static_cast<std::size_t>(rank.number)];
        std::generate(data.begin(), data.end(), [&] { return static_cast<std::uint32_t>(random()); });
        for (int commits = 0; commits < 40; ++commits) {
          commit_all(rank, data);
          EXPECT_EQ(restore_large(rank), data) << "rank " << rank.number << " commit " << commits;
          if (commits < 39) change(data, random, commits % 13 == 12 ? 1.0 : share);
        }
        const auto verified = rank.group->verify_all();
        EXPECT_EQ(verified.mended, 0U);
        EXPECT_EQ(verified.lost, 0U);
      }));
      job.kill(1);
      job.repair();
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters_of(kind));
        provide_large(rank);
        EXPECT_EQ(restore_large(rank), stored[static_cast<std::size_t>(rank.number)]) << "rank " << rank.number;
      }));
      if (testing::Test::HasFailure()) return;
    }
  }
}

// A rank dies while little of what is stored has changed, in each policy at several steps.
TEST(Unchanged, DataComesBackAfterADeathAtAnyStep) {
  constexpr int kCommits = 30;
  for (const Kind& kind : kKinds) {
    int deaths = 0;
    for (int steps = 150; steps < 900; steps += 67 * stride(1, 3)) {
      SCOPED_TRACE(testing::Message() << "policy " << static_cast<int>(kind.policy.kind)
                                      << (kind.in_place ? " in place" : "") << ", after " << steps << " steps");
      Job job(4);
      std::vector<std::vector<Words>> stored(4);  // by rank and time stamp
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters_of(kind));
        provide_large(rank);
      }));
      job.doom(1, steps);
      const auto outcomes = job.run([&](Rank& rank) {
        std::mt19937 random(static_cast<unsigned>(rank.number + steps));
        Words data(kWordsOfAMember, static_cast<std::uint32_t>(rank.number));
        for (int commits = 0; commits < kCommits; ++commits) {
          change(data, random, 0.15);
          stored[static_cast<std::size_t>(rank.number)].push_back(data);
          commit_all(rank, data);
        }
        rank.team->barrier();
      });
      deaths += outcomes[1].ending == Ending::died ? 1 : 0;
      job.repair();
      job.settle();
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters_of(kind));
        provide_large(rank);
        const auto stamps = rank.group->snapshots().on_all();
        if (stamps.empty()) return;
        const auto stamp = static_cast<std::size_t>(stamps[0]);
        EXPECT_EQ(restore_large(rank), stored[static_cast<std::size_t>(rank.number)].at(stamp))
            << "rank " << rank.number << ", time stamp " << stamp;
      }));
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(deaths, 0) << "the steps are too many";
  }
}

// Nothing is written where nothing has changed: a byte that is damaged in a slot stays so.
TEST(Unchanged, BlocksAreNotWrittenAgain) {
  for (const Kind& kind : kKinds) {
    if (kind.policy.kind != Policy::Kind::buddies) continue;
    SCOPED_TRACE(kind.in_place ? "in place" : "two copies");
    Job job(4);
    expect_done(job.run([&](Rank& rank) {
      join(rank, parameters_of(kind));
      provide_large(rank);
      Words data(kWordsOfAMember, 7);
      for (int commits = 0; commits < 20; ++commits) commit_all(rank, data);
      const auto& memory = rank.group->find(kLargeMember)->memory;
      for (std::uint32_t slot = 0; slot < memory.layout().slots(); ++slot) {
        memory.own_slot(slot).data[3 * kHashBlock] = std::byte{99};
        memory.held_slot(slot).data[2 * kHashBlock] = std::byte{99};
      }
      rank.team->barrier();
      data[5 * kWordsOfABlock] = 8;
      for (int commits = 0; commits < 2; ++commits) commit_all(rank, data);
      rank.team->barrier();
      for (std::uint32_t slot = 0; slot < memory.layout().slots(); ++slot) {
        EXPECT_EQ(memory.own_slot(slot).data[3 * kHashBlock], std::byte{99}) << "own slot " << slot;
        EXPECT_EQ(memory.held_slot(slot).data[2 * kHashBlock], std::byte{99}) << "held slot " << slot;
        EXPECT_EQ(memory.own_slot(slot).data[5 * kHashBlock], std::byte{8}) << "own slot " << slot;
        EXPECT_EQ(memory.held_slot(slot).data[5 * kHashBlock], std::byte{8}) << "held slot " << slot;
      }
    }));
  }
}

}  // namespace
}  // namespace fenix_test
