// SPDX-License-Identifier: BSD-3-Clause
// The log of one rank's commits, without a team: nobody holds copies of its records.
#include "core/log/commit_log.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fenix_impl {
namespace {

class CommitLogTest : public testing::Test {
 protected:
  CommitLogTest() {
    ranks_.size = 1;
    ranks_.rank = 0;
    ranks_.placement = Placement(parameters_.policy, 1, {0});
    log_.memory().take_entries(log_.memory().entries());
    log_.memory().control().reserve_records(record_bytes(1, 1));
    log_.resume({1}, {}, {});
  }

  /// Commits, and has all ranks know of it if they have reached the epoch.
  void commit(std::uint64_t epoch) {
    LoggedRecord logged{log_.begin_record({epoch}), log_.free_entry(CommitLog::kEntriesToSpare).value()};
    log_.prepare_append();
    log_.write(logged);
    log_.append(std::move(logged));
  }

  void all_have_reached(std::uint64_t epoch) { log_.memory().control().commits.reset({1}, {epoch}); }

  [[nodiscard]] std::vector<std::uint64_t> epochs() const {
    std::vector<std::uint64_t> values;
    for (const LoggedRecord& logged : log_.records()) {
      if (!logged.record.deleted) values.push_back(logged.record.epoch.value);
    }
    return values;
  }

  [[nodiscard]] std::vector<std::uint64_t> own_snapshots() const {
    std::vector<std::uint64_t> values;
    for (const Epoch epoch : log_.own_snapshots()) values.push_back(epoch.value);
    return values;
  }

  [[nodiscard]] std::vector<std::uint64_t> epochs_in_memory() const {
    std::vector<std::uint64_t> values;
    for (const CommittedEpoch& each : log_.memory().own_epochs()) values.push_back(each.epoch.value);
    return values;
  }

  using Values = std::vector<std::uint64_t>;

  GroupParameters parameters_{5, 100, 1, {Policy::Kind::local}, 1};
  GroupRanks ranks_;
  CommitLog log_{parameters_, ranks_};
};

// What other ranks have committed makes no difference, nor do deletions bring back what is older than depth.
TEST_F(CommitLogTest, OwnSnapshotsAreTheNewestDepthAndOne) {
  const std::vector<Values> views{{1}, {1, 2}, {2, 3}, {3, 4}};
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) {
    commit(epoch);
    EXPECT_EQ(own_snapshots(), views[epoch - 1]);
    if (epoch == 3) all_have_reached(2);
    (void)log_.forget_old();
    EXPECT_EQ(own_snapshots(), views[epoch - 1]);
  }
  log_.delete_if([](Epoch epoch) { return epoch.value == 4; }, [] {});
  EXPECT_EQ(own_snapshots(), (Values{3}));
  commit(5);
  EXPECT_EQ(own_snapshots(), (Values{3, 5}));
  all_have_reached(5);
  (void)log_.forget_old();
  EXPECT_EQ(own_snapshots(), (Values{3, 5}));
}

TEST_F(CommitLogTest, KeepsDepthAndOneOfThoseThatAllRanksHave) {
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) commit(epoch);
  EXPECT_FALSE(log_.forget_old()) << "nobody has told that all ranks have committed";
  EXPECT_EQ(epochs(), (Values{1, 2, 3, 4}));
  all_have_reached(3);
  EXPECT_TRUE(log_.forget_old());
  EXPECT_EQ(epochs(), (Values{2, 3, 4}));
  EXPECT_EQ(log_.latest()->record.epoch.value, 4U);
  EXPECT_EQ(log_.at({1}), nullptr);
  EXPECT_EQ(log_.at({2})->record.time_stamp, 101);
}

TEST_F(CommitLogTest, NeverGivesOutTheEntryOfARecordThatIsNeeded) {
  for (std::uint64_t epoch = 1; !log_.is_full(); ++epoch) {
    const auto free = log_.free_entry(CommitLog::kEntriesToSpare);
    ASSERT_TRUE(free);
    for (const LoggedRecord& logged : log_.records()) EXPECT_NE(logged.entry, *free);
    commit(epoch);
  }
  EXPECT_EQ(log_.free_entry(CommitLog::kEntriesToSpare), std::nullopt);
  EXPECT_TRUE(log_.free_entry(0)) << "one is left for a deletion";
  EXPECT_EQ(log_.records().size() + CommitLog::kEntriesToSpare, log_.memory().entries());
}

TEST_F(CommitLogTest, ADeletedSnapshotStaysKnownAsCommitted) {
  commit(1);
  commit(2);
  int deleted = 0;
  log_.delete_if([](Epoch epoch) { return epoch.value == 2; }, [&] { ++deleted; });
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(epochs(), Values{1});
  EXPECT_EQ(epochs_in_memory(), (Values{1, 2}));
  EXPECT_EQ(log_.memory().own_epochs().back().deleted, 1U);
  EXPECT_TRUE(log_.has_gaps());
  EXPECT_EQ(log_.last().value, 2U);
  all_have_reached(2);
  EXPECT_TRUE(log_.forget_old());
  EXPECT_EQ(log_.records().size(), 2U) << "the deletion is the newest that all ranks have";
  commit(3);
  all_have_reached(3);
  EXPECT_TRUE(log_.forget_old());
  EXPECT_EQ(epochs(), (Values{1, 3}));
  EXPECT_EQ(log_.records().size(), 2U);
}

TEST_F(CommitLogTest, MendsRecordsThatMemoryHasNotKept) {
  commit(1);
  commit(2);
  log_.memory().control().own_log.entry(log_.at({1})->entry)[60] ^= std::byte{1};
  EXPECT_EQ(epochs_in_memory(), Values{2});
  EXPECT_EQ(log_.mend_own(), 1U);
  EXPECT_EQ(epochs_in_memory(), (Values{1, 2}));
  EXPECT_EQ(log_.mend_own(), 0U);
}

TEST_F(CommitLogTest, GoesOnFromTheLogWithTheEpochsThatAreLeft) {
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) commit(epoch);
  log_.accept_loss();
  log_.forget_records();
  const std::vector<Epoch> left{{1}, {2}};
  log_.resume({2}, {2}, left);
  EXPECT_EQ(epochs(), (Values{1, 2}));
  EXPECT_EQ(epochs_in_memory(), (Values{1, 2})) << "the third is void";
  EXPECT_EQ(log_.last().value, 2U);
  EXPECT_EQ(log_.known_on_all().value, 2U);
  EXPECT_EQ(log_.begin_record({3}).generation.value, 2U);
  EXPECT_TRUE(log_.has_lost_data());
  commit(3);
  EXPECT_FALSE(log_.has_lost_data()) << "it has data of its own again";
  EXPECT_FALSE(log_.has_gaps());
}

TEST_F(CommitLogTest, KeepsOlderRecordsUntilAllIsRebuilt) {
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) commit(epoch);
  const std::vector<Epoch> left{{3}};
  log_.keep_only(left, {2});
  EXPECT_EQ(epochs_in_memory(), (Values{1, 3}));
  EXPECT_EQ(epochs(), (Values{1, 3}));
}

TEST_F(CommitLogTest, ARecordSaysWhatItsOwnerKeepsOnceAllHaveIt) {
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) commit(epoch);
  EXPECT_EQ(log_.at({1})->record.oldest_kept.value, 1U);
  EXPECT_EQ(log_.at({3})->record.oldest_kept.value, 2U) << "depth 1: this one and the one before";
}

}  // namespace
}  // namespace fenix_impl
