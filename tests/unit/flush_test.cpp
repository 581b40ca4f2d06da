// SPDX-License-Identifier: BSD-3-Clause
// Snapshots of simulated ranks, written to a store: what is read from there is what was committed.
#include "core/operations/flush.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "core/member/member_codec.hpp"
#include "keeper/verified_source.hpp"
#include "store/dataset.hpp"
#include "store/dataset_writer.hpp"
#include "support/group_data.hpp"
#include "support/recorded_file_system.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr int kFlushRanks = 3;
constexpr std::uint32_t kRun = 4;
constexpr int kFlushMembers[] = {kSmall, kUneven, kLarge};

GroupParameters flushed_group(const Policy& policy, int in_place, int hashing) {
  GroupParameters parameters{11, 0, 1, policy};
  parameters.hashing = hashing;
  parameters.in_place = in_place;
  return parameters;
}

class FlushJob : public Job {
 public:
  explicit FlushJob(const Policy& policy, int in_place = 0, int hashing = 1) : Job(kFlushRanks) {
    expect_done(run([&](Rank& rank) {
      (void)join(rank, flushed_group(policy, in_place, hashing));
      for (const int member : kFlushMembers) provide(rank, member);
    }));
  }

  void commit_snapshot(int stamp) {
    expect_done(run([&](Rank& rank) {
      for (const int member : kFlushMembers) store_until_commit(rank, member, stamp);
      commit_barrier(rank);
    }));
  }

  [[nodiscard]] Flush flush(int rank) { return group(rank).store_link().flush(); }
  [[nodiscard]] DatasetPlan plan(int rank, std::vector<std::uint32_t> writers) {
    return flush(rank).plan({1}, "calm", kRun, std::move(writers));
  }

  /// Returns what a rank offers as the keeper reads it.
  [[nodiscard]] RankSource source(int rank, Epoch epoch) {
    const Flush::Offered offered = flush(rank).offer(epoch);
    RankSource source{rank, offered.offer.record, {}};
    for (const MemberOffer& member : offered.offer.members) {
      const auto region = group(rank).find(member.member)->memory.region().bytes();
      source.members.push_back(verified_source(member, region.subspan(member.offset, member.bytes())));
    }
    return source;
  }

 private:
  [[nodiscard]] Group& group(int rank) { return *ranks()[static_cast<std::size_t>(rank)].group; }
};

/// Whether all ranks have in the store what they had stored.
bool is_in_store(RecordedFileSystem& files, const DatasetName& name, int stamp) {
  const auto dataset = Dataset::open(files, "", name);
  if (!dataset || !dataset->missing().empty()) return false;
  for (int rank = 0; rank < kFlushRanks; ++rank) {
    const auto data = dataset->rank(rank);
    for (const int member : kFlushMembers) {
      Words words(count_of(rank, member));
      if (!data || !dataset->read(*data, member, std::as_writable_bytes(std::span(words)))) return false;
      if (words != contents(rank, member, stamp)) return false;
    }
  }
  return true;
}

const Policy kFlushPolicies[] = {
    {Policy::Kind::buddies, 1, 0, 1}, {Policy::Kind::local, 1, 0, 1}, {Policy::Kind::parity, 1, 3, 1}};

TEST(Flush, WritesWhatWasCommitted) {
  for (const Policy& policy : kFlushPolicies) {
    for (const int in_place : {0, 1}) {
      if (in_place != 0 && !policy.has_redundancy()) continue;
      FlushJob job(policy, in_place);
      job.commit_snapshot(0);
      RecordedFileSystem files;
      const DatasetPlan plan = job.plan(0, {0, 1, 0});
      EXPECT_EQ(plan, job.plan(2, {0, 1, 0}));
      EXPECT_EQ(plan.name, (DatasetName{11, 0, kRun, 1}));
      ASSERT_EQ(plan.members.size(), 3U);
      EXPECT_EQ(decode_members(plan.members[2].type)[0].element_bytes(), 4U);
      DatasetWriter writer(files, "", plan);
      writer.write_plan();
      ASSERT_TRUE(writer.write_part(0, std::vector{job.source(0, {1}), job.source(2, {1})}));
      EXPECT_FALSE(is_in_store(files, plan.name, 0));
      ASSERT_TRUE(writer.write_part(1, std::vector{job.source(1, {1})}));
      EXPECT_TRUE(is_in_store(files, plan.name, 0));
    }
  }
}

TEST(Flush, ANewerCommitIsNeverTakenForTheOldOne) {
  FlushJob job(kFlushPolicies[0]);
  job.commit_snapshot(0);
  const RankSource source = job.source(0, {1});
  RecordedFileSystem files;
  const DatasetPlan plan = job.plan(0, {0, 0, 0});
  DatasetWriter writer(files, "", plan);
  writer.write_plan();
  const auto others = [&] { return std::vector{source, job.source(1, {1}), job.source(2, {1})}; };
  auto sources = others();
  // The slot stays for depth + 1 commits, and is used anew by the next store.
  job.commit_snapshot(1);
  EXPECT_TRUE(writer.write_part(0, sources));
  EXPECT_TRUE(is_in_store(files, plan.name, 0));
  job.commit_snapshot(2);
  job.commit_snapshot(3);
  RecordedFileSystem later;
  DatasetWriter late(later, "", plan);
  late.write_plan();
  EXPECT_FALSE(late.write_part(0, sources));
  EXPECT_FALSE(is_in_store(later, plan.name, 0));
  // The snapshot has gone.
  EXPECT_THROW((void)job.source(0, {1}), Error);
  EXPECT_NO_THROW((void)job.source(0, {4}));
}

TEST(Flush, DamageInMemoryDoesNotGetIntoAFile) {
  FlushJob job(kFlushPolicies[0]);
  job.commit_snapshot(0);
  auto& member = *job.ranks()[1].group->find(kLarge);
  member.memory.own_slot(job.ranks()[1].group->log().at({1})->record.find(kLarge)->slot).data[777] ^= std::byte{2};
  RecordedFileSystem files;
  const DatasetPlan plan = job.plan(0, {0, 1, 2});
  DatasetWriter writer(files, "", plan);
  writer.write_plan();
  EXPECT_FALSE(writer.write_part(1, std::vector{job.source(1, {1})}));
  expect_done(job.run([](Rank& rank) { EXPECT_EQ(rank.group->verify_all().mended, 1U); }));
  EXPECT_TRUE(writer.write_part(1, std::vector{job.source(1, {1})}));
}

TEST(Flush, WithoutHashesTheSlotIsHashedFirst) {
  FlushJob job(kFlushPolicies[0], /*in_place=*/0, /*hashing=*/0);
  job.commit_snapshot(0);
  const auto sources = std::vector{job.source(0, {1}), job.source(1, {1}), job.source(2, {1})};
  RecordedFileSystem files;
  const DatasetPlan plan = job.plan(0, {0, 0, 0});
  DatasetWriter writer(files, "", plan);
  writer.write_plan();
  EXPECT_TRUE(writer.write_part(0, sources));
  EXPECT_TRUE(is_in_store(files, plan.name, 0));
  for (const int stamp : {1, 2, 3}) job.commit_snapshot(stamp);
  RecordedFileSystem later;
  DatasetWriter late(later, "", plan);
  late.write_plan();
  EXPECT_FALSE(late.write_part(0, sources));
}

TEST(Flush, TheRecordIsSealed) {
  FlushJob job(kFlushPolicies[0]);
  job.commit_snapshot(0);
  const auto record = decode(job.source(1, {1}).record);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->owner, 1);
  EXPECT_EQ(record->epoch.value, 1U);
}

TEST(Flush, ADeletedMemberIsLeftOut) {
  FlushJob job(kFlushPolicies[0]);
  job.commit_snapshot(0);
  expect_done(job.run([](Rank& rank) { rank.group->delete_member(*rank.group->find(kUneven)); }));
  EXPECT_EQ(job.source(0, {1}).members.size(), 2U);
  EXPECT_EQ(job.plan(0, {0, 0, 0}).members.size(), 2U);
}

}  // namespace
}  // namespace fenix_test
