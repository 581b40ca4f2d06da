// SPDX-License-Identifier: BSD-3-Clause
// A job whose ranks have all died, and the next one, which goes on with the memory that is left of it.
#include "recovery/groups/rejoin/kept_group.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <set>
#include <vector>

#include "base/descriptor.hpp"
#include "support/group_data.hpp"
#include "support/random_seed.hpp"
#include "support/simulated_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Descriptor;
using fenix_impl::group_described;
using fenix_impl::GroupParameters;
using fenix_impl::Policy;
using fenix_impl::RejoinResult;
using fenix_impl::StoreOfJob;

constexpr std::array kMembers{kSmall, kUneven, kLarge};
constexpr std::uint32_t kKeptOfRun = 4;
const Policy kBuddies{Policy::Kind::buddies};
const Policy kXor{Policy::Kind::parity, 1, 3, 1};
const Policy kTwoLosses{Policy::Kind::reed_solomon, 1, 5, 2};
const Policy kNone{Policy::Kind::local};

/// Memory of a rank, as the keeper of its node has it.
struct Left {
  std::vector<std::byte> description;
  std::vector<Descriptor> regions;

  [[nodiscard]] std::vector<std::int32_t> files() const {
    std::vector<std::int32_t> numbers;
    for (const Descriptor& each : regions) numbers.push_back(each.get());
    return numbers;
  }
};

class Jobs : public Job {
 public:
  Jobs(int size, const Policy& policy, int depth = 1) : Job(size), parameters_{5, 0, depth, policy} {
    left_.resize(static_cast<std::size_t>(size));
    expect_done(run([&](Rank& rank) {
      join(rank, parameters_);
      take_up(rank);
      for (const int member : kMembers) provide(rank, member);
    }));
  }

  void make_snapshot(int stamp) {
    expect_done(run([&](Rank& rank) { store_and_commit(rank, stamp); }));
  }

  void store_and_commit(Rank& rank, int stamp) {
    for (const int member : kMembers) store(rank, member, stamp);
    commit_barrier(rank);
    keep(rank);
  }

  // As the library does.
  void take_up(Rank& rank) {
    rank.group->store_link().call_before_record([this, &rank] { keep(rank); });
    keep(rank);
    rank.team->barrier();
  }

  /// All ranks are dead. Another job begins, on which the memory of some ranks is not there.
  void start_again(const std::set<int>& without = {}) {
    for (int number = 0; number < size(); ++number) kill(number);
    repair();
    for (Rank& each : ranks()) {
      if (without.count(each.number) == 0) each.group = described(each.number);
    }
  }

  [[nodiscard]] std::unique_ptr<fenix_impl::Group> described(int number) {
    const Left& left = left_.at(static_cast<std::size_t>(number));
    return group_described(left.description, ::getpid(), left.files(), number, size());
  }

  /// Forms the group again. Returns what rank 0 is told.
  RejoinResult form(const StoreOfJob& store = {{1, kKeptOfRun + 1, 0}, {}}) {
    RejoinResult result;
    expect_done(run([&](Rank& rank) {
      fenix_impl::Generation highest;
      const auto mine = rejoin(rank.group, {parameters_, [] {}, rank.team, [&] { return rank.path; }, store, highest});
      take_up(rank);
      if (rank.number == 0) result = mine;
    }));
    return result;
  }

  /// Whether no rank has died meanwhile. As the library does, ranks that are not complete forget the group.
  bool try_to_form() {
    const auto outcomes = run([&](Rank& rank) {
      fenix_impl::Generation highest;
      (void)rejoin(rank.group,
                   {parameters_, [] {}, rank.team, [&] { return rank.path; }, {{1, kKeptOfRun + 1, 0}, {}}, highest});
      take_up(rank);
    });
    for (Rank& each : ranks()) {
      if (each.group && !each.group->is_complete()) each.group.reset();
    }
    return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each == Ending::done; });
  }

  void describe_missing() {
    for (Rank& each : ranks()) {
      if (!each.group) each.group = described(each.number);
    }
  }

  /// Checks the newest snapshot on all ranks, and returns its time stamp; -1 if there is none.
  int check_newest() {
    std::vector<int> newest(static_cast<std::size_t>(size()), -1);
    expect_done(run([&](Rank& rank) {
      const auto stamps = rank.group->snapshots().on_all();
      if (stamps.empty()) return;
      newest[static_cast<std::size_t>(rank.number)] = stamps.front();
      for (const int member : kMembers) {
        provide(rank, member);
        rank.group->find(member)->claim(source_buffer(rank, member).data());
        EXPECT_EQ(restore(rank, member, stamps.front()), contents(rank.number, member, stamps.front()))
            << "rank " << rank.number << " member " << member;
      }
    }));
    EXPECT_EQ(std::set<int>(newest.begin(), newest.end()).size(), 1U) << "the same on all ranks";
    return newest.front();
  }

  GroupParameters& parameters() { return parameters_; }

  void keep(Rank& rank) {
    Left& left = left_[static_cast<std::size_t>(rank.number)];
    left = {describe_group(*rank.group, kKeptOfRun), {}};
    for (const int region : regions_of(*rank.group)) {
      left.regions.emplace_back(::fcntl(region, F_DUPFD_CLOEXEC, 0));
    }
  }

 private:
  GroupParameters parameters_;
  std::vector<Left> left_;  // by rank
};

TEST(KeptGroup, GoesOnWithoutACopy) {
  for (const Policy& policy : {kBuddies, kXor, kTwoLosses, kNone}) {
    Jobs jobs(6, policy);
    jobs.make_snapshot(0);
    jobs.make_snapshot(1);
    jobs.start_again();
    const RejoinResult result = jobs.form();
    EXPECT_EQ(result.kept_run, kKeptOfRun);
    EXPECT_FALSE(result.snapshots_lost || result.awaits_store);
    for (Rank& rank : jobs.ranks()) {
      const auto left = jobs.described(rank.number);
      ASSERT_TRUE(left);
      for (std::size_t i = 0; i < kMembers.size(); ++i) {
        EXPECT_EQ(rank.group->members()[i].memory.region().address().key,
                  left->recovery().kept_memory()->regions[i + 1].address.key)
            << "the memory is that of before";
      }
    }
    EXPECT_EQ(jobs.check_newest(), 1);
    jobs.make_snapshot(2);
    EXPECT_EQ(jobs.check_newest(), 2);
  }
}

TEST(KeptGroup, LostMemoryIsRebuiltAsFarAsThePolicyGoes) {
  const auto newest_without = [](const Policy& policy, const std::set<int>& lost) {
    Jobs jobs(6, policy);
    jobs.make_snapshot(0);
    jobs.start_again(lost);
    const RejoinResult result = jobs.form();
    const int newest = jobs.check_newest();
    EXPECT_EQ(result.kept_run, newest >= 0 ? kKeptOfRun : 0U);
    EXPECT_EQ(result.awaits_store, newest < 0);
    return newest;
  };
  for (int lost = 0; lost < 6; ++lost) {
    for (const Policy& policy : {kBuddies, kXor, kTwoLosses}) EXPECT_EQ(newest_without(policy, {lost}), 0);
    EXPECT_EQ(newest_without(kNone, {lost}), -1) << "without redundancy, the store is better than a part";
  }
  EXPECT_EQ(newest_without(kTwoLosses, {1, 2}), 0);
  EXPECT_EQ(newest_without(kXor, {0, 3}), 0);
  EXPECT_EQ(newest_without(kXor, {0, 1}), -1);
  EXPECT_EQ(newest_without(kTwoLosses, {0, 1, 2, 3, 4, 5}), -1);
}

// Ranks die in the middle of a store or a commit, each at a step of its own. A commit that was told is there.
TEST(KeptGroup, AllRanksMayDieAtAnyStep) {
  std::mt19937 random(random_seed());
  for (int round = 0; round < 150; ++round) {
    const Policy policy = std::vector{kBuddies, kXor, kTwoLosses}[random() % 3];
    Jobs jobs(6, policy, static_cast<int>(random() % 3) - 1);
    const bool is_first = random() % 4 == 0;
    if (!is_first) jobs.make_snapshot(0);
    for (int number = 0; number < 6; ++number) jobs.doom(number, static_cast<int>(random() % 120));
    std::vector<char> told(6);
    const auto outcomes = jobs.run([&](Rank& rank) {
      jobs.store_and_commit(rank, is_first ? 0 : 1);
      told[static_cast<std::size_t>(rank.number)] = 1;
    });
    const bool is_told = std::count(told.begin(), told.end(), 1) > 0;
    std::set<int> lost;
    if (random() % 2 == 0) lost.insert(static_cast<int>(random() % 6));
    jobs.start_again(lost);
    (void)jobs.form();
    EXPECT_GE(jobs.check_newest(), is_told ? (is_first ? 0 : 1) : (is_first ? -1 : 0)) << "round " << round;
  }
}

// Only the death of one rank has to be covered, whatever the others have come to.
TEST(KeptGroup, ADeathWhileItIsTakenUpLosesNothing) {
  std::mt19937 random(random_seed());
  for (int round = 0; round < 150; ++round) {
    Jobs jobs(6, std::vector{kBuddies, kXor, kTwoLosses}[random() % 3]);
    jobs.make_snapshot(0);
    jobs.start_again();
    jobs.doom(static_cast<int>(random() % 6), static_cast<int>(random() % 150));
    do {
      (void)jobs.try_to_form();
      jobs.repair();
      jobs.describe_missing();
    } while (!jobs.try_to_form());
    EXPECT_EQ(jobs.check_newest(), 0) << "round " << round;
  }
}

TEST(KeptGroup, OtherThingsCountMore) {
  const auto kept_run = [](const std::function<void(Jobs&)>& change, const StoreOfJob& store) {
    Jobs jobs(3, kBuddies);
    jobs.make_snapshot(0);
    jobs.start_again();
    change(jobs);
    return jobs.form(store).kept_run;
  };
  const auto nothing = [](Jobs&) {};
  const auto newest = [](std::uint32_t run, std::uint32_t generation) {
    return [=](const fenix_impl::StoreRun&) {
      return StoreOfJob::Newest{fenix_impl::DatasetName{5, 99, run, generation}, false};
    };
  };
  EXPECT_EQ(kept_run(nothing, {{1, kKeptOfRun + 1, 0}, {}}), kKeptOfRun);
  EXPECT_EQ(kept_run(nothing, {{1, kKeptOfRun, 0}, {}}), 0U) << "of this run, and deleted since";
  EXPECT_EQ(kept_run(nothing, {{1, kKeptOfRun + 9, 0}, newest(kKeptOfRun + 1, 0)}), 0U)
      << "the store has something of a later run";
  EXPECT_EQ(kept_run(nothing, {{1, kKeptOfRun + 9, 0}, newest(kKeptOfRun, 0)}), kKeptOfRun);
  const auto chosen = [](const fenix_impl::StoreRun&) {
    return StoreOfJob::Newest{fenix_impl::DatasetName{5, 1, 1, 1}, true};
  };
  EXPECT_EQ(kept_run(nothing, {{1, kKeptOfRun + 9, 0}, chosen}), 0U) << "the user has chosen a dataset";
  EXPECT_EQ(kept_run([](Jobs& jobs) { jobs.parameters().depth = 3; }, {{1, kKeptOfRun + 1, 0}, {}}), 0U);
  EXPECT_EQ(kept_run([](Jobs& jobs) { jobs.parameters().policy = kXor; }, {{1, kKeptOfRun + 1, 0}, {}}), 0U);
}

// It may be what the program dies of.
TEST(KeptGroup, IsNotTakenAgainAndAgainWithoutACommit) {
  Jobs jobs(3, kBuddies);
  jobs.make_snapshot(0);
  for (int tries = 0; tries < 3; ++tries) {
    jobs.start_again();
    EXPECT_EQ(jobs.form().kept_run, kKeptOfRun) << tries;
  }
  jobs.start_again();
  EXPECT_EQ(jobs.form().kept_run, 0U);
}

TEST(KeptGroup, IsOfOneRank) {
  Jobs jobs(3, kBuddies);
  jobs.make_snapshot(0);
  Left left;
  Rank& rank = jobs.rank(1);
  left.description = describe_group(*rank.group, kKeptOfRun);
  const std::vector<std::int32_t> files(1 + kMembers.size(), 3);
  EXPECT_TRUE(group_described(left.description, 1, files, 1, 3));
  EXPECT_FALSE(group_described(left.description, 1, files, 0, 3));
  EXPECT_FALSE(group_described(left.description, 1, files, 1, 4));
  EXPECT_FALSE(group_described(left.description, 1, std::span(files).first(2), 1, 3));
  for (std::size_t cut = 0; cut < left.description.size(); ++cut) {
    EXPECT_FALSE(group_described(std::span(left.description).first(cut), 1, files, 1, 3)) << cut << " bytes";
  }
}

}  // namespace
}  // namespace fenix_test
