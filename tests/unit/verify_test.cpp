// SPDX-License-Identifier: BSD-3-Clause
// Bits that flip in memory: verification finds them and mends what can be mended; of what cannot, all ranks are told, and
// nothing that is good is touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/simd/slot_hashes.hpp"
#include "support/encoded.hpp"
#include "support/partial_job.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Group;
using fenix_impl::kHashBlock;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::Selection;
using fenix_impl::SlotView;

constexpr std::byte kFlip{0x04};
constexpr std::uint64_t kCount = 100'000;  // four blocks of hashes, the last one not full

// Two snapshots, in slots 0 and 1; what is stored of the second is in the middle.
class VerifiedJob : public PartialJob {
 public:
  VerifiedJob(int size, const Policy& policy) : PartialJob(size, 1, kCount, 0, policy) {
    expect_done(run([&](Rank& rank) {
      change(rank, model(rank), {0, kCount}, static_cast<unsigned>(rank.number));
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
      change(rank, model(rank), {20'000, 60'000}, 100 + static_cast<unsigned>(rank.number));
      store_elements(rank, kMember, Selection::some({20'000, 60'000}));
      commit_barrier(rank);
    }));
    for (Rank& rank : ranks()) {
      Member& member = member_of(rank);
      const auto bytes = member.memory.region().bytes().subspan(member.memory.layout().own_offset(0));
      sound_.emplace_back(bytes.begin(), bytes.end());
    }
  }

  SlotView own(int rank, std::uint32_t slot = 1) { return member_of(this->rank(rank)).memory.own_slot(slot); }
  SlotView held(int rank, std::uint32_t slot = 1) { return member_of(this->rank(rank)).memory.held_slot(slot); }

  // All ranks are told the same.
  void expect_verified(std::uint64_t mended, std::uint64_t lost) {
    expect_done(run([&](Rank& rank) {
      const auto found = rank.group->verify_all();
      EXPECT_EQ(found.mended, mended) << "rank " << rank.number;
      EXPECT_EQ(found.lost, lost) << "rank " << rank.number;
      EXPECT_EQ(found.checked > 0, true);
    }));
  }

  // Data, tables and parity of all ranks are what they were before the damage, except so many bytes.
  void expect_sound(std::size_t wrong_bytes = 0) {
    std::size_t wrong = 0;
    for (Rank& rank : ranks()) {
      Member& member = member_of(rank);
      const auto bytes = member.memory.region().bytes().subspan(member.memory.layout().own_offset(0));
      const auto& before = sound_[static_cast<std::size_t>(rank.number)];
      if (std::memcmp(bytes.data(), before.data(), before.size()) == 0) continue;
      for (std::size_t i = 0; i < before.size(); ++i) wrong += bytes[i] != before[i] ? 1 : 0;
    }
    EXPECT_EQ(wrong, wrong_bytes);
  }

  void expect_mended(std::uint64_t times) {
    expect_verified(times, 0);
    expect_sound();
    expect_verified(0, 0);
  }

  void expect_rebuilt(const std::vector<int>& dead) {
    rejoin_without(dead);
    expect_done(run([&](Rank& rank) { expect_elements(rank, model(rank), kLatest, kCount, "rebuilt"); }));
  }

  void rejoin_without(const std::vector<int>& dead) {
    for (const int rank : dead) kill(rank);
    repair();
    form();
  }

 private:
  std::vector<std::vector<std::byte>> sound_;
};

TEST(VerifyParity, FindsNothingWrongWithWhatIsSound) {
  for (const auto& [size, policy] : {std::pair(4, kParity), std::pair(5, kTwoLosses), std::pair(1, kParity)}) {
    VerifiedJob job(size, policy);
    job.expect_mended(0);
  }
}

TEST(VerifyParity, MendsOwnData) {
  for (const std::uint64_t byte : {std::uint64_t{0}, std::uint64_t{131'071}, std::uint64_t{131'072}, 4 * kCount - 1}) {
    SCOPED_TRACE(byte);
    VerifiedJob job(4, kParity);
    job.own(2).data[byte] ^= kFlip;
    job.own(2, 0).data[byte] ^= kFlip;
    job.expect_mended(2);
    job.expect_rebuilt({1});
  }
}

TEST(VerifyParity, MendsTables) {
  VerifiedJob job(4, kParity);
  job.own(1).table[2] ^= 1;
  job.expect_mended(1);
}

TEST(VerifyParity, MendsTableAndDataOfOneRank) {
  for (const std::size_t block : {0U, 3U}) {
    VerifiedJob job(4, kParity);
    job.own(1).table[block] ^= 1;
    job.own(1).data[100] ^= kFlip;
    job.expect_mended(1);
  }
}

TEST(VerifyParity, MendsParity) {
  VerifiedJob job(4, kParity);
  const std::size_t last = job.held(0).data.size() - 1;
  job.held(0).data[0] ^= kFlip;
  job.held(3).data[last] ^= kFlip;
  job.held(3, 0).data[last / 2] ^= kFlip;
  job.expect_mended(3);
  job.expect_rebuilt({2});
}

TEST(VerifyParity, MendsDataAndParityOfOtherRanks) {
  VerifiedJob job(5, kTwoLosses);
  job.own(0).data[7] ^= kFlip;
  job.held(1).data[3] ^= kFlip;
  job.expect_mended(2);
  job.expect_rebuilt({0, 1});
}

// Only damaged blocks are decoded, so that one parity suffices for two ranks.
TEST(VerifyParity, MendsDifferentBlocksOfTwoRanks) {
  VerifiedJob job(4, kParity);
  job.own(0).data[10] ^= kFlip;
  job.own(1).data[3 * kHashBlock + 10] ^= kFlip;
  job.expect_mended(2);
}

// A table can be made from data that is good, whatever others have.
TEST(VerifyParity, MendsATableNextToADamagedRank) {
  VerifiedJob job(4, kParity);
  job.own(0).table[1] ^= 1;
  job.own(1).data[10] ^= kFlip;
  job.expect_mended(2);
}

TEST(VerifyParity, MendsTheSameBlockOfAsManyRanksAsMayBeLost) {
  for (int first = 0; first < 5; ++first) {
    for (int second = first + 1; second < 5; second += stride(1, 2)) {
      SCOPED_TRACE(testing::Message() << "ranks " << first << " and " << second);
      VerifiedJob job(5, kTwoLosses);
      for (const int rank : {first, second}) {
        const auto data = job.own(rank).data;
        std::fill(data.begin(), data.begin() + kHashBlock, std::byte{0x55});
      }
      job.expect_mended(2);
    }
  }
}

// What rank 0 lacks is damaged on rank 1, which can do without rank 0: the result does not depend on who is first.
TEST(VerifyParity, MendsOneRankAfterTheOther) {
  for (int first = 0; first < 4; ++first) {
    VerifiedJob job(4, kParity);
    job.own(first).data[5] ^= kFlip;
    job.own((first + 1) % 4).data[5] ^= kFlip;
    job.expect_mended(2);
  }
}

void flip_block(const SlotView& slot, std::size_t block) {
  for (std::size_t i = 0; i < kHashBlock; ++i) slot.data[block * kHashBlock + i] ^= kFlip;
}

TEST(VerifyParity, TouchesNothingGoodWhenDamageIsHopeless) {
  VerifiedJob job(4, kParity);
  flip_block(job.own(0), 0);
  flip_block(job.own(1), 0);
  job.own(2).table[0] ^= 1;  // its data is good, and so the table can be made again
  job.expect_verified(1, 2);
  job.expect_sound(2 * kHashBlock);
  expect_error(job.run([](Rank& rank) {
    Words target(kCount);
    (void)rank.group->restore(kMember, kLatest, {target.data(), kCount}, [] {});
  }),
               FENIX_ERROR_NODATA_FOUND);
  expect_done(job.run([](Rank& rank) {
    Words target(kCount);
    EXPECT_EQ(rank.group->restore(kMember, at(0), {target.data(), kCount}, [] {}).elements.count(), kCount);
  }));
}

TEST(VerifyParity, MendsWhatItCanNextToHopelessDamage) {
  VerifiedJob job(4, kParity);
  flip_block(job.own(0), 0);
  flip_block(job.own(1), 0);
  flip_block(job.own(0), 2);
  flip_block(job.own(2, 0), 0);
  job.expect_verified(1, 2);
  job.expect_sound(2 * kHashBlock);
}

// Redundancy is all that is left of what is damaged: it must not be made from that.
TEST(VerifyParity, KeepsRedundancyWhileDataIsLost) {
  VerifiedJob job(4, kParity);
  flip_block(job.own(0), 0);
  flip_block(job.own(1), 0);
  job.expect_verified(0, 2);
  flip_block(job.own(1), 0);
  job.expect_mended(1);
}

TEST(VerifyParity, RestoreMendsOwnData) {
  VerifiedJob job(4, kParity);
  job.own(2).data[77] ^= kFlip;
  job.own(3).data[77 + kHashBlock] ^= kFlip;
  expect_done(job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, kCount, "mended"); }));
  job.expect_sound();
}

TEST(VerifyParity, RebuildGoesAroundADamagedSurvivor) {
  VerifiedJob job(5, kTwoLosses);
  job.own(1).data[100] ^= kFlip;
  job.expect_rebuilt({3});
  job.expect_rebuilt({1});
}

// Wherever the damage is: in what the lost rank's data is decoded from, or in what its parity is made of.
TEST(VerifyParity, RebuildKeepsDamageOutOfNewParity) {
  for (std::size_t byte = 100; byte < 4 * kCount; byte += 30'000 * static_cast<std::size_t>(stride(1, 4))) {
    SCOPED_TRACE(byte);
    VerifiedJob job(5, kTwoLosses);
    job.own(1).data[byte] ^= kFlip;
    job.rejoin_without({3});
    job.expect_sound(1);
    job.expect_mended(1);
  }
}

// Returns how often rank 0 accesses the memory of its peers to verify so many snapshots.
int reads_to_verify(int snapshots) {
  PartialJob job(4, snapshots - 1, 100, 0, kParity);
  expect_done(job.run([&](Rank& rank) {
    for (int i = 0; i < snapshots; ++i) {
      change(rank, job.model(rank), {0, 100}, static_cast<unsigned>(1 + i));
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
    }
  }));
  const int before = job.crew().accesses_of(0);
  expect_done(job.run([&](Rank& rank) {
    const auto found = rank.group->verify_all();
    EXPECT_EQ(found.mended + found.lost, 0U);
    EXPECT_GE(found.checked, 4U * 2U * static_cast<unsigned>(snapshots));
  }));
  return job.crew().accesses_of(0) - before;
}

// Records of other ranks are looked for once, and not for each snapshot anew.
TEST(VerifyParity, ReadsGrowWithTheNumberOfSnapshots) {
  constexpr int kSome = 12;
  const int of_some = reads_to_verify(kSome);
  const int of_more = reads_to_verify(4 * kSome);
  EXPECT_LE(of_more, 5 * of_some);
  // Three peers: each record in two reads, the data, and the heads of all entries once.
  EXPECT_LE(of_more, 3 * (5 * 4 * kSome + 4 * kSome + 16));
}

TEST(VerifyParity, LooksAtOneMemberOnly) {
  VerifiedJob job(4, kParity);
  expect_done(job.run([](Rank& rank) {
    provide(rank, kSmall + 1);
    store(rank, kSmall + 1, 0);
    commit_barrier(rank);
  }));
  auto& other = *job.rank(1).group->find(kSmall + 1);
  other.memory.own_slot(0).data[0] ^= kFlip;
  expect_done(job.run([](Rank& rank) {
    EXPECT_EQ(rank.group->verify_member(kMember).mended, 0U);
    EXPECT_EQ(rank.group->verify_member(kSmall + 1).mended, 1U);
    EXPECT_EQ(rank.group->verify_member(kSmall + 1).mended, 0U);
  }));
  expect_error(job.run([](Rank& rank) { (void)rank.group->verify_member(99); }), FENIX_ERROR_INVALID_MEMBERID);
}

// Slots that are being filled, and those of snapshots that not all ranks have, are nobody's business.
TEST(VerifyParity, LeavesWorkInProgressAlone) {
  VerifiedJob job(4, kParity);
  expect_done(job.run([&](Rank& rank) {
    change(rank, job.model(rank), {0, 50'000}, 300);
    store_elements(rank, kMember, Selection::some({0, 50'000}));
    const auto found = rank.group->verify_all();
    EXPECT_EQ(found.mended + found.lost, 0U);
    commit_barrier(rank);
    expect_elements(rank, job.model(rank), kLatest, kCount, "after the verification");
  }));
  job.expect_rebuilt({0});
}

TEST(VerifyCopies, MendsAllThatOneSideHas) {
  for (const Policy& policy : {Policy{Policy::Kind::buddies, 1, 0, 1}, Policy{Policy::Kind::ring, 1, 0, 1}}) {
    VerifiedJob job(4, policy);
    job.own(0).data[9] ^= kFlip;
    job.own(1).table[0] ^= 1;
    job.held(2).data[4 * kCount - 1] ^= kFlip;
    job.held(3, 0).table[3] ^= 1;
    job.expect_mended(4);
    job.expect_rebuilt({2});
  }
}

TEST(VerifyLocal, HasNothingToMendFrom) {
  VerifiedJob job(3, {Policy::Kind::local, 1, 0, 0});
  job.expect_verified(0, 0);
  job.own(1).data[9] ^= kFlip;
  job.expect_verified(0, 1);
  job.expect_sound(1);
}

}  // namespace
}  // namespace fenix_test
