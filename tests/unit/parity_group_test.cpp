// SPDX-License-Identifier: BSD-3-Clause
// Groups whose ranks encode: what tolerable sets of ranks had comes back byte for byte, time after time; of what is beyond
// that all ranks are told.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/encoded.hpp"
#include "support/partial_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::IntervalSet;
using fenix_impl::Member;
using fenix_impl::Placement;
using fenix_impl::Policy;
using fenix_impl::Selection;

constexpr int kMembers[] = {kSmall, kUneven, kLarge};

const std::vector<Encoded> kEncoded{{4, parity(4)},          {5, parity(2)},          {5, parity(3)},
                                    {6, parity(3, 2)},       {6, reed_solomon(6, 2)}, {4, reed_solomon(4, 2)},
                                    {2, reed_solomon(2, 1)}, {5, reed_solomon(5, 4)}};

/// All sets of ranks that may be lost at once; or those that are one too many in some redundancy set, and no more.
std::vector<std::vector<int>> sets_of(const Encoded& encoded, bool tolerable) {
  const Placement placement(encoded.policy, encoded.size);
  std::vector<std::vector<int>> sets;
  for (unsigned bits = 1; bits < 1U << encoded.size; ++bits) {
    std::vector<int> set;
    for (int rank = 0; rank < encoded.size; ++rank) {
      if ((bits >> rank & 1U) != 0) set.push_back(rank);
    }
    std::ptrdiff_t most = 0;
    for (const int rank : set) {
      const auto& redundancy_set = placement.redundancy_set(rank);
      most = std::max(most, std::count_if(redundancy_set.begin(), redundancy_set.end(), [&](int each) {
                        return std::find(set.begin(), set.end(), each) != set.end();
                      }));
    }
    const bool too_many = most == placement.copies() + 1 && static_cast<int>(set.size()) < encoded.size;
    if (tolerable ? most <= placement.copies() : too_many) sets.push_back(set);
  }
  return sets;
}

class ParityJob : public Job {
 public:
  ParityJob(const Encoded& encoded, int depth, int hashing = 1)
      : Job(encoded.size), parameters_{5, 0, depth, encoded.policy, hashing} {
    form(false);
  }

  void form(bool expect_lost) {
    expect_done(run([&](Rank& rank) {
      EXPECT_EQ(join(rank, parameters_).snapshots_lost, expect_lost) << "rank " << rank.number;
      for (const int member : kMembers) provide(rank, member);
    }));
  }

  // kUneven is stored under even time stamps only.
  void make_snapshots(int first, int last, bool barrier) {
    expect_done(run([&](Rank& rank) {
      for (int stamp = first; stamp <= last; ++stamp) {
        for (const int member : kMembers) {
          if (member != kUneven || stamp % 2 == 0) store(rank, member, stamp);
        }
        EXPECT_EQ(rank.group->commit(), stamp);
        if (barrier) rank.group->wait_for_commit_on_all();
      }
      rank.group->wait_for_commit_on_all();
    }));
  }

  void replace(const std::vector<int>& dead, bool expect_lost = false) {
    for (const int rank : dead) kill(rank);
    repair();
    form(expect_lost);
  }

  void expect_snapshots(const std::vector<int>& stamps) {
    expect_done(run([&](Rank& rank) {
      EXPECT_EQ(rank.group->snapshots().on_all(), stamps);
      for (const int stamp : stamps) {
        for (const int member : kMembers) {
          const int stored = member == kUneven ? stamp - stamp % 2 : stamp;
          EXPECT_EQ(restore(rank, member, stamp), contents(rank.number, member, stored))
              << "rank " << rank.number << " member " << member << " time stamp " << stamp;
        }
      }
    }));
  }

 private:
  GroupParameters parameters_;
};

std::vector<int> down_from(int newest, int depth) {
  std::vector<int> stamps;
  for (int stamp = newest; stamp >= 0 && (depth == kKeepAll || stamp >= newest - depth); --stamp) {
    stamps.push_back(stamp);
  }
  return stamps;
}

std::string text_of(const std::vector<int>& set) {
  std::string text;
  for (const int rank : set) text += " " + std::to_string(rank);
  return text;
}

TEST(ParityGroup, OutlivesAllTolerableDeaths) {
  unsigned number = 0;
  for (const Encoded& encoded : kEncoded) {
    for (const auto& set : sets_of(encoded, true)) {
      const int depth = std::array{0, 1, 3, kKeepAll}[++number % 4];
      SCOPED_TRACE(testing::Message() << encoded << ", depth " << depth << ", lost:" << text_of(set));
      ParityJob job(encoded, depth, number % 5 == 0 ? 0 : 1);
      job.make_snapshots(0, 4, number % 2 == 0);
      job.replace(set);
      job.expect_snapshots(down_from(4, depth));
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Rebuilt data and parity protect others as the first ones did; also after further commits.
TEST(ParityGroup, OutlivesTheNextDeathsToo) {
  unsigned number = 0;
  for (const Encoded& encoded : kEncoded) {
    const auto sets = sets_of(encoded, true);
    for (std::size_t i = 0; i < sets.size(); i += 1 + sets.size() / 6) {
      const auto& next = sets[(i * 7 + 3) % sets.size()];
      const int depth = std::array{0, 1, 3, kKeepAll}[++number % 4];
      SCOPED_TRACE(testing::Message() << encoded << ", depth " << depth << ", lost:" << text_of(sets[i]) << ", then"
                                      << text_of(next));
      ParityJob job(encoded, depth, number % 3 == 0 ? 0 : 1);
      job.make_snapshots(0, 2, true);
      job.replace(sets[i]);
      job.replace(next);
      job.expect_snapshots(down_from(2, depth));
      job.make_snapshots(3, 5, false);
      job.replace(sets[i]);
      job.expect_snapshots(down_from(5, depth));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(ParityGroup, TellsAllRanksWhenTooManyAreLost) {
  for (const Encoded& encoded : kEncoded) {
    const auto sets = sets_of(encoded, false);
    for (std::size_t i = 0; i < sets.size(); i += 1 + sets.size() / 4) {
      SCOPED_TRACE(testing::Message() << encoded << ", lost:" << text_of(sets[i]));
      ParityJob job(encoded, 1);
      job.make_snapshots(0, 2, true);
      job.replace(sets[i], true);
      expect_error(job.run([](Rank& rank) {
        EXPECT_TRUE(rank.group->snapshots().on_all().empty());
        restore(rank, kSmall);
      }),
                   FENIX_ERROR_NODATA_FOUND);
      job.make_snapshots(0, 2, true);
      job.replace({1});
      job.expect_snapshots({2, 1});
    }
  }
}

TEST(ParityGroup, GoesBackToWhatAllRanksHaveCommitted) {
  // One redundancy set commits, the other does not.
  const Encoded encoded{6, parity(3)};
  for (const int dead : {0, 4}) {
    ParityJob job(encoded, 1);
    job.make_snapshots(0, 2, true);
    expect_done(job.run([&](Rank& rank) {
      for (const int member : kMembers) store(rank, member, 50);
      if (rank.number < 3) rank.group->commit();
    }));
    job.replace({dead});
    job.expect_snapshots({2, 1});
    job.make_snapshots(3, 4, false);
    job.replace({1, 5});
    job.expect_snapshots({4, 3});
  }
}

// ---------------------------------------------------------------------------------------------------------------- sizes

// Each rank has so many elements, modulo the length of the list.
void check_counts(const Encoded& encoded, const std::vector<std::uint64_t>& counts) {
  const auto count = [&](const Rank& rank) { return counts[static_cast<std::size_t>(rank.number) % counts.size()]; };
  Job job(encoded.size);
  const GroupParameters parameters{5, 0, 1, encoded.policy};
  std::vector<Elements> models(static_cast<std::size_t>(encoded.size));
  const auto model = [&](const Rank& rank) -> Elements& { return models[static_cast<std::size_t>(rank.number)]; };
  expect_done(job.run([&](Rank& rank) {
    join(rank, parameters);
    create(rank, count(rank), count(rank));
    for (unsigned stamp = 0; stamp < 4; ++stamp) {
      change(rank, model(rank), {0, count(rank)}, stamp * 16 + static_cast<unsigned>(rank.number));
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
    }
  }));
  for (const auto& set : sets_of(encoded, true)) {
    SCOPED_TRACE(testing::Message() << "lost:" << text_of(set));
    for (const int rank : set) job.kill(rank);
    job.repair();
    expect_done(job.run([&](Rank& rank) {
      EXPECT_FALSE(join(rank, parameters).snapshots_lost);
      rank.buffers[kMember].resize(count(rank));
      member_of(rank).set_buffer(rank.buffers[kMember].data());
      expect_elements(rank, model(rank), kLatest, count(rank), "rebuilt");
    }));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ParitySizes, AnySizeComesBack) {
  const std::vector<std::vector<std::uint64_t>> sizes{{1},          {1, 0},          {0, 3, 0},          {5, 17, 0, 1},
                                                      {16, 17, 15}, {8191, 8193, 3}, {33'000, 1, 70'001}};
  for (const Encoded& encoded :
       {Encoded{4, parity(4)}, Encoded{5, parity(2)}, Encoded{4, reed_solomon(4, 2)}, Encoded{2, reed_solomon(2, 1)}}) {
    for (const auto& counts : sizes) {
      SCOPED_TRACE(testing::Message() << encoded << ", first of " << counts.size() << " sizes: " << counts[0]);
      check_counts(encoded, counts);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(ParitySizes, MembersGrowAndShrink) {
  for (const Encoded& encoded : {Encoded{3, parity(3)}, Encoded{5, reed_solomon(5, 2)}}) {
    for (const int depth : {0, 2, kKeepAll}) {
      SCOPED_TRACE(testing::Message() << encoded << ", depth " << depth);
      PartialJob job(encoded.size, depth, FENIX_RESIZEABLE, 40'000, encoded.policy);
      std::vector<std::map<int, std::pair<Elements, std::uint64_t>>> history(static_cast<std::size_t>(encoded.size));
      const auto of = [&](const Rank& rank) -> auto& { return history[static_cast<std::size_t>(rank.number)]; };
      for (int stamp = 0; stamp < 8; ++stamp) {
        expect_done(job.run([&](Rank& rank) {
          // Beyond units of 32 KiB on some ranks, nothing on others, and less from time to time.
          const std::uint64_t size = std::array<std::uint64_t, 8>{
              10, 3'000, 0, 9'001, 30'000, 12'345, 1, 39'999}[static_cast<std::size_t>((stamp + 3 * rank.number) % 8)];
          const std::uint64_t first = stamp % 3 == 2 ? size / 2 : 0;
          change(rank, job.model(rank), {first, size}, static_cast<unsigned>(stamp));
          store_elements(rank, kMember, Selection::some({first, size}));
          commit_barrier(rank);
          of(rank)[stamp] = {job.model(rank), first < size ? size : 0};
        }));
        const auto sets = sets_of(encoded, true);
        const auto& set = sets[static_cast<std::size_t>(stamp) % sets.size()];
        if (stamp % 2 == 1) {
          for (const int rank : set) job.kill(rank);
          job.repair();
          job.form();
        }
        expect_done(job.run([&](Rank& rank) {
          EXPECT_EQ(rank.group->snapshots().on_all(), down_from(stamp, depth));
          for (const int each : rank.group->snapshots().on_all()) {
            expect_elements(rank, of(rank).at(each).first, at(each), of(rank).at(each).second, "a size that changes");
          }
        }));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------- deletion, many members

TEST(ParityGroup, ForgetsDeletedSnapshotsAndMembers) {
  for (const Encoded& encoded : {Encoded{4, parity(4)}, Encoded{4, reed_solomon(4, 2)}}) {
    SCOPED_TRACE(testing::Message() << encoded);
    ParityJob job(encoded, 2);
    job.make_snapshots(0, 4, true);
    expect_done(job.run([](Rank& rank) {
      rank.group->delete_snapshot(at(3));
      rank.team->barrier();
    }));
    job.replace({1});
    job.expect_snapshots({4, 2});
    job.make_snapshots(5, 6, true);
    // On one rank only: it is gone for all, and what the others have of it protects nobody.
    expect_done(job.run([](Rank& rank) {
      if (rank.number == 2) rank.group->delete_snapshot(at(5));
      rank.team->barrier();
      store(rank, kSmall, 7);
      store(rank, kLarge, 7);
      commit_barrier(rank);
    }));
    job.replace({0});
    expect_done(job.run([](Rank& rank) {
      EXPECT_EQ(rank.group->snapshots().on_all(), (std::vector<int>{7, 6}));
      for (const int stamp : {7, 6}) {
        for (const int member : {kSmall, kLarge}) {
          EXPECT_EQ(restore(rank, member, stamp), contents(rank.number, member, stamp));
        }
      }
      // A new member with an old id has none of its data.
      rank.group->delete_member(*rank.group->find(kLarge));
      rank.team->barrier();
      provide(rank, kLarge);
      store(rank, kLarge, 8);
      commit_barrier(rank);
    }));
    job.replace({3});
    expect_done(job.run([](Rank& rank) {
      EXPECT_EQ(restore(rank, kLarge), contents(rank.number, kLarge, 8));
      EXPECT_EQ(restore(rank, kSmall), contents(rank.number, kSmall, 7));
      EXPECT_EQ(restore(rank, kUneven), contents(rank.number, kUneven, 6));
    }));
  }
}

// -------------------------------------------------------------------------------------------------------------- restores

TEST(ParityRestoreFrom, GivesWhatAnyRankStored) {
  for (const Encoded& encoded : kEncoded) {
    SCOPED_TRACE(testing::Message() << encoded);
    ParityJob job(encoded, 1);
    job.make_snapshots(0, 2, true);
    job.replace({1});
    expect_done(job.run([&](Rank& rank) {
      for (int shift = 0; shift < encoded.size; ++shift) {
        const int source = (rank.number + shift) % encoded.size;
        Words target(count_of(source, kLarge));
        (void)rank.group->restore_from(kLarge, at(1), {target.data(), target.size()}, source, [] {});
        EXPECT_EQ(target, contents(source, kLarge, 1)) << "of rank " << source;
      }
    }));
  }
}

TEST(ParityRestoreFrom, DecodesWhatDeadRanksOfALargerTeamHad) {
  for (const Encoded& encoded : kEncoded) {
    const auto sets = sets_of(encoded, true);
    for (std::size_t i = 0; i < sets.size(); i += 1 + sets.size() / 8) {
      SCOPED_TRACE(testing::Message() << encoded << ", lost:" << text_of(sets[i]));
      const GroupParameters parameters{5, 0, 1, encoded.policy, i % 2 == 0 ? 1 : 0};
      ParityJob job(encoded, 1, parameters.hashing);
      job.make_snapshots(0, 2, true);
      for (const int rank : sets[i]) job.kill(rank);
      job.shrink();
      expect_done(job.run([&](Rank& rank) {
        const auto result = join(rank, parameters);
        EXPECT_TRUE(result.existed);
        EXPECT_FALSE(result.snapshots_lost);
        EXPECT_EQ(rank.group->snapshots().on_all(), (std::vector<int>{2, 1}));
        for (const int stamp : {2, 1}) {
          for (const int member : kMembers) {
            for (int shift = 0; shift < encoded.size; ++shift) {
              const int source = (rank.number + shift) % encoded.size;
              Words target(count_of(source, member));
              (void)rank.group->restore_from(member, at(stamp), {target.data(), target.size()}, source, [] {});
              const int stored = member == kUneven ? stamp - stamp % 2 : stamp;
              EXPECT_EQ(target, contents(source, member, stored)) << "member " << member << " of rank " << source;
            }
          }
        }
      }));
      if (testing::Test::HasFailure()) return;
      // The new team, which may be smaller than a redundancy set was to be, goes on with parity of its own.
      expect_done(job.run([](Rank& rank) {
        for (const int member : kMembers) {
          provide(rank, member);
          store(rank, member, 3);
        }
        commit_barrier(rank);
      }));
      if (job.size() < 2) continue;
      job.kill(0);
      job.repair();
      expect_done(job.run([&](Rank& rank) {
        EXPECT_FALSE(join(rank, parameters).snapshots_lost);
        for (const int member : kMembers) EXPECT_EQ(restore(rank, member), contents(rank.origin, member, 3));
      }));
    }
  }
}

TEST(ParityRestoreFrom, TellsAllRanksWhenTooManyAreLost) {
  const Encoded encoded{6, parity(3)};
  ParityJob job(encoded, 1);
  job.make_snapshots(0, 2, true);
  job.kill(3);
  job.kill(5);
  job.shrink();
  expect_done(job.run([&](Rank& rank) { EXPECT_TRUE(join(rank, {5, 0, 1, encoded.policy}).snapshots_lost); }));
}

}  // namespace
}  // namespace fenix_test
