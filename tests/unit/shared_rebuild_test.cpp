// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are left make together what a replacement lacks: deaths at any step of that, and shares that do not come or are wrong.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <string_view>
#include <vector>

#include "base/fault.hpp"
#include "support/any_step.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;

// A stride at which each of the ranks dies at some steps of the rebuild.
constexpr int kStrideOfRebuild = 37;

constexpr Encoded kShared[] = {
    {3, parity(3)}, {4, parity(4)}, {5, parity(2)}, {4, reed_solomon(4, 2)}, {6, reed_solomon(6, 2)}};

Application apart(const Encoded& each, int depth, bool in_place) {
  Application application =
      in_place ? Application::in_place(each.size, each.policy) : Application(each.size, depth, each.policy);
  application.job.put_apart();
  return application;
}

// Ranks are lost, as many as the policy covers; while the others make what they had, one more dies.
void lose_another_in_rebuild(const Encoded& each, bool in_place, const std::set<int>& lost, int dying) {
  SCOPED_TRACE(testing::Message() << each << (in_place ? " in place, " : ", ") << *lost.begin() << " and "
                                  << lost.size() - 1 << " more are lost, then " << dying << " dies");
  for_steps(
      5 * dying + 3 * *lost.begin(),
      [&](int steps) {
        Application application = apart(each, steps % 2, in_place);
        EXPECT_TRUE(application.play(3));
        for (const int rank : lost) application.job.kill(rank);
        application.job.repair();
        application.job.doom(dying, steps, some_unlucky(steps + dying));
        const bool lives = application.play(4);
        application.job.repair();
        if (lost.count(dying) != 0) {
          EXPECT_TRUE(application.covered());
        }
        EXPECT_TRUE(application.play(6));
        application.job.kill((dying + 1) % each.size);
        application.job.repair();
        EXPECT_TRUE(application.play(7));
        return !lives;
      },
      kStrideOfRebuild);
}

TEST(AnyStepOfSharedRebuild, OfOne) {
  for (const Encoded& each : kShared) {
    for (const bool in_place : {false, true}) {
      for (int dying = 0; dying < each.size && !testing::Test::HasFailure(); ++dying) {
        lose_another_in_rebuild(each, in_place, {1}, dying);
      }
    }
  }
}

TEST(AnyStepOfSharedRebuild, OfTwo) {
  for (const bool in_place : {false, true}) {
    for (int dying = 0; dying < 6 && !testing::Test::HasFailure(); ++dying) {
      lose_another_in_rebuild({6, reed_solomon(6, 2)}, in_place, {2, 5}, dying);
    }
  }
}

// A survivor dies; its replacement and the one before are rebuilt at once.
TEST(AnyStepOfSharedRebuild, OfASurvivorWithinWhatIsCovered) {
  const Encoded each{5, reed_solomon(5, 2)};
  for (int dying = 0; dying < each.size && !testing::Test::HasFailure(); ++dying) {
    SCOPED_TRACE(testing::Message() << dying << " dies");
    for_steps(
        dying,
        [&](int steps) {
          Application application = apart(each, 1, false);
          EXPECT_TRUE(application.play(3));
          application.job.kill(2);
          application.job.repair();
          application.job.doom(dying, steps, some_unlucky(steps));
          const bool lives = application.play(4);
          application.job.repair();
          EXPECT_TRUE(application.covered());
          EXPECT_TRUE(application.play(5));
          return !lives;
        },
        kStrideOfRebuild);
  }
}

// --------------------------------------------------------------------------------------------------- shares that do not come

constexpr std::array kMembersOfShares{kSmall, kUneven, kLarge};
constexpr int kLost = 1;
constexpr unsigned kSnapshots = 2;

/// A job that has committed twice, and has lost a rank.
class SharedRebuilding : public testing::Test {
 protected:
  void begin(const Encoded& each, bool hashing = true, bool in_place = false) {
    parameters_ = {5, 0, in_place ? 0 : 1, each.policy};
    parameters_.hashing = hashing ? 1 : 0;
    parameters_.in_place = in_place ? 1 : 0;
    job_ = std::make_unique<Job>(each.size);
    job_->put_apart();
    expect_done(job_->run([&](Rank& rank) {
      join(rank, parameters_);
      for (int stamp = 0; stamp < 2; ++stamp) {
        for (const int member : kMembersOfShares) {
          if (stamp == 0) provide(rank, member);
          store_until_commit(rank, member, stamp);
        }
        commit_barrier(rank);
      }
    }));
    job_->kill(kLost);
    job_->repair();
  }

  // Takes the group up, and checks data, redundancy, and redundancy that was made from what is there now.
  int rebuild() {
    const auto take_up = [&](Rank& rank) {
      join(rank, parameters_);
      for (const int member : kMembersOfShares) {
        provide(rank, member);
        EXPECT_EQ(restore(rank, member), contents(rank.number, member, 1)) << "rank " << rank.number;
      }
      if (parameters_.hashing == 0) return;
      const auto verified = rank.group->verify_all();
      EXPECT_EQ(verified.mended + verified.lost, 0U) << "rank " << rank.number;
    };
    int accesses = 0;
    expect_done(job_->run([&](Rank& rank) {
      join(rank, parameters_);
      if (rank.number == kLost) accesses = job_->crew().accesses_of(kLost);
    }));
    expect_done(job_->run(take_up));
    job_->kill(0);
    job_->repair();
    expect_done(job_->run(take_up));
    return accesses;
  }

  std::unique_ptr<Job> job_;
  GroupParameters parameters_;
};

// A replacement that decodes alone reads the slots of the others.
TEST_F(SharedRebuilding, ReplacementsReadNothingButRecords) {
  for (const Encoded& each : {Encoded{4, parity(4)}, Encoded{6, reed_solomon(6, 2)}}) {
    for (const bool hashing : {true, false}) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(testing::Message() << each << (hashing ? "" : ", without hashes")
                                        << (in_place ? ", in place" : ""));
        begin(each, hashing, in_place);
        const int shared = rebuild();
        const RebuildsAlone here;
        begin(each, hashing, in_place);
        EXPECT_LT(shared + 10, rebuild());
      }
    }
  }
}

#ifdef FENIX_FAULT_INJECTION

std::atomic<int> refusals{0};
std::atomic<int> points_passed{0};

/// The third rank without memory for its share declines.
bool refuse_one(const char* name) { return std::string_view(name) == "rebuild.buffers" && ++refusals == 3; }

void count_announced(const char* name) {
  if (std::string_view(name) == "rebuild.announced") ++points_passed;
}

TEST_F(SharedRebuilding, AShareThatDoesNotComeIsMadeByTheReplacement) {
  for (const Encoded& each : {Encoded{4, parity(4)}, Encoded{6, reed_solomon(6, 2)}}) {
    SCOPED_TRACE(testing::Message() << each);
    refusals = 0;
    begin(each);
    fenix_impl::set_fault_hook(refuse_one);
    (void)rebuild();
    fenix_impl::set_fault_hook(nullptr);
    EXPECT_GT(refusals, 3);
  }
}

Job* job_with_wrong_share = nullptr;
std::atomic<int> spoilt{0};

// Called when a rank has written its shares. The last one finds all of them there, and the replacement has not looked at them yet.
void spoil_share(const char* name) {
  if (std::string_view(name) != "rebuild.shared" || ++spoilt != job_with_wrong_share->size()) return;
  const auto* member = job_with_wrong_share->rank(kLost).group->find(kLarge);
  for (std::uint32_t slot = 0; slot < member->memory.layout().own_slots(); ++slot) {
    member->memory.own_slot(slot).data[5000] ^= std::byte{1};
  }
}

TEST_F(SharedRebuilding, AWrongShareIsNoticed) {
  for (const bool in_place : {false, true}) {
    for (const Encoded& each : {Encoded{4, parity(4)}, Encoded{6, reed_solomon(6, 2)}}) {
      SCOPED_TRACE(testing::Message() << each << (in_place ? ", in place" : ""));
      spoilt = 0;
      begin(each, true, in_place);
      job_with_wrong_share = job_.get();
      fenix_impl::set_fault_listener(spoil_share);
      (void)rebuild();
      fenix_impl::set_fault_listener(nullptr);
      EXPECT_GE(spoilt, each.size);
    }
  }
}

// With ranks to spare, a survivor whose slot is damaged is left out: neither data nor parity of the replacement is wrong.
TEST_F(SharedRebuilding, ADamagedSlotIsNoSource) {
  begin({6, reed_solomon(6, 2)});
  const auto* member = job_->rank(4).group->find(kLarge);
  for (std::uint32_t slot = 0; slot < member->memory.layout().own_slots(); ++slot) {
    member->memory.own_slot(slot).data[5000] ^= std::byte{1};
  }
  points_passed = 0;
  fenix_impl::set_fault_listener(count_announced);
  expect_done(job_->run([&](Rank& rank) {
    join(rank, parameters_);
    for (const int each : kMembersOfShares) provide(rank, each);
    const auto verified = rank.group->verify_all();
    EXPECT_EQ(verified.mended, kSnapshots);
    EXPECT_EQ(verified.lost, 0U);
  }));
  fenix_impl::set_fault_listener(nullptr);
  EXPECT_EQ(points_passed, 6);
}

#endif

}  // namespace
}  // namespace fenix_test
