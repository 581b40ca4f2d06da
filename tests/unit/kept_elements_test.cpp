// SPDX-License-Identifier: BSD-3-Clause
// Bits that flip in elements that a commit keeps: it gives their block a new hash, or copies them. They are mended before that, or
// the commit is refused.
#include <gtest/gtest.h>

#include "support/encoded.hpp"
#include "support/partial_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::IntervalSet;
using fenix_impl::Policy;
using fenix_impl::Selection;

constexpr std::uint64_t kBlock = 32'768;              // elements
constexpr std::uint64_t kElements = 3 * kBlock + 77;  // three blocks of hashes, and a part of one
constexpr int kDamaged = 1;                           // rank

struct KeptCase {
  const char* name;
  Policy policy;
  int in_place;
};

const KeptCase kCases[] = {{"ring", {Policy::Kind::ring, 1, 0, 1}, 0},
                           {"xor", parity(4), 0},
                           {"reed_solomon", reed_solomon(4, 2), 0},
                           {"ring, in place", {Policy::Kind::ring, 1, 0, 1}, 1},
                           {"xor, in place", parity(4), 1},
                           {"reed_solomon, in place", reed_solomon(4, 2), 1}};

class KeptJob : public PartialJob {
 public:
  explicit KeptJob(const KeptCase& each)
      : PartialJob(4, each.in_place != 0 ? 0 : 1, kElements, 0, each.policy, each.in_place) {
    store({0, kElements}, 1);
    commit();
  }

  void store(const IntervalSet& elements, unsigned seed) {
    expect_done(run([&](Rank& each) {
      change(each, model(each), elements, seed);
      store_elements(each, kMember, Selection::some(elements));
    }));
    slot_ = *member_of(rank(kDamaged)).working().number();
  }
  void commit() { expect_done(run(commit_barrier)); }

  /// Flips a bit in the slot of the latest store, of the damaged rank.
  void flip(std::uint64_t element) {
    member_of(rank(kDamaged)).memory.own_slot(slot_).data[4 * element] ^= std::byte{4};
  }
  /// Flips bits in all slots, behind the elements that the tests store.
  void damage(int number, bool held) {
    const std::size_t first = held ? 0 : 4 * (kBlock + 400);
    const fenix_impl::MemberMemory& memory = member_of(rank(number)).memory;
    for (std::uint32_t slot = 0; slot < memory.layout().slots(); ++slot) {
      const auto data = held ? memory.held_slot(slot).data : memory.own_slot(slot).data;
      // In place, all slots have the same own data.
      if (slot > 0 && data.data() == memory.own_slot(0).data.data()) continue;
      for (std::size_t byte = first; byte < data.size(); byte += 16) data[byte] ^= std::byte{4};
    }
  }
  void flip_hash(std::uint64_t block) { member_of(rank(kDamaged)).memory.own_slot(slot_).table[block] ^= 4; }

  void expect_right() {
    expect_done(run([&](Rank& each) { expect_elements(each, model(each), kLatest, kElements, "the latest"); }));
    fenix_impl::Verified found;
    expect_done(run([&](Rank& each) {
      const auto all = each.group->verify_all();
      if (each.number == 0) found = all;
    }));
    EXPECT_LE(found.mended, 1U);  // the snapshot before, if the commit did not need it
    EXPECT_EQ(found.lost, 0U);
  }

 private:
  std::uint32_t slot_ = 0;
};

// Bits of the latest snapshot, in a block that is stored in part, and in one that the next commit copies.
TEST(KeptElements, AreMendedBeforeTheCommitIfTheLatestSnapshotIsDamaged) {
  for (const KeptCase& each : kCases) {
    for (const std::uint64_t element : {std::uint64_t{0}, kBlock - 1, kBlock, kElements - 1}) {
      for (const bool in_table : {false, true}) {
        // Blocks of which nothing is stored go into new parity as they are.
        if (each.policy.encodes() && each.in_place != 0 && element < kBlock && !in_table) continue;
        SCOPED_TRACE(testing::Message() << each.name << ", element " << element << (in_table ? ", table" : ""));
        KeptJob job(each);
        job.store({100, 200}, 2);
        job.commit();
        job.store({kBlock + 100, kBlock + 300}, 3);
        job.commit();
        if (in_table) {
          job.flip_hash(element / kBlock);
        } else {
          job.flip(element);
        }
        // A part of each block but one, and no element of the first.
        job.store(IntervalSet(kBlock + 100, kBlock + 200) | IntervalSet(3 * kBlock + 10, 3 * kBlock + 20), 4);
        job.commit();
        job.expect_right();
      }
    }
  }
}

// Bits of elements that the working slot has from an earlier snapshot. In place, the own slot has the latest one.
TEST(KeptElements, AreMendedBeforeTheCommitIfTheWorkingSlotIsDamaged) {
  for (const KeptCase& each : kCases) {
    SCOPED_TRACE(each.name);
    KeptJob job(each);
    for (unsigned seed = 2; seed < 8; ++seed) {
      job.store({kBlock + 100, kBlock + 300}, seed);
      if (seed >= 5) job.flip(kBlock + 50);
      job.commit();
      job.expect_right();
    }
  }
}

TEST(KeptElements, BeyondRepairTheCommitIsRefusedUntilAllIsStored) {
  for (const KeptCase& each : kCases) {
    SCOPED_TRACE(each.name);
    KeptJob job(each);
    job.store({kBlock + 100, kBlock + 300}, 2);
    job.commit();
    job.store({kBlock + 100, kBlock + 200}, 3);
    const bool encodes = each.policy.encodes();
    const int keeper = job.rank(kDamaged).group->ranks().placement.holder(kDamaged, 0);
    // With parity, more ranks of the redundancy set than it has losses.
    for (int rank = kDamaged; rank <= kDamaged + (encodes ? each.policy.losses : 0); ++rank) {
      job.damage(rank, false);
      if (encodes) job.damage(rank, true);
    }
    if (!encodes) job.damage(keeper, true);
    // The others: those of a redundancy set get an error, those that commit in place would wait.
    const auto outcomes = job.run([&](Rank& rank) {
      if (rank.number == kDamaged || encodes || each.in_place == 0) rank.group->commit();
    });
    EXPECT_EQ(outcomes[kDamaged].ending, Ending::error) << outcomes[kDamaged];
    EXPECT_EQ(outcomes[kDamaged].code, FENIX_ERROR_NODATA_FOUND);
    const Ending ending = encodes ? Ending::error : Ending::done;
    for (const int rank : {0, 2, 3}) EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].ending, ending) << rank;
    expect_done(job.run([&](Rank& rank) {
      if (rank.number == kDamaged || encodes || each.in_place != 0) {
        change(rank, job.model(rank), {0, kElements}, 4);
        store_elements(rank, kMember, Selection::all());
        rank.group->commit();
      }
      rank.group->wait_for_commit_on_all();
    }));
    expect_done(
        job.run([&](Rank& rank) { expect_elements(rank, job.model(rank), kLatest, kElements, "stored again"); }));
  }
}

}  // namespace
}  // namespace fenix_test
