// SPDX-License-Identifier: BSD-3-Clause
// Bits that flip in any place that a group keeps, then a restore, a verification, or deaths. Data comes back byte for byte
// where redundancy allows it. Otherwise all ranks get the same older snapshot, or the same error. Never wrong bytes.
//
// By default a few flips of each kind are tried; FENIX_TEST_ALL_STEPS=1 tries 200.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/simd/slot_hashes.hpp"
#include "support/encoded.hpp"
#include "support/partial_job.hpp"
#include "support/random_seed.hpp"

namespace fenix_test {
namespace {

using fenix_impl::LoggedRecord;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::RecordLog;
using fenix_impl::Selection;

constexpr std::uint64_t kCount = 34'000;  // two blocks of hashes
constexpr std::uint32_t kSlot = 1;        // of the latest snapshot

#ifdef __SANITIZE_ADDRESS__
constexpr int kFlips = 1;
#else
constexpr int kFlips = 4;
#endif

int flips() { return std::getenv("FENIX_TEST_ALL_STEPS") != nullptr ? 200 : kFlips; }

struct Setting {
  const char* name;
  int size;
  Policy policy;

  [[nodiscard]] bool encodes() const { return policy.encodes(); }
};

const Setting kSettings[] = {{"buddies", 4, {Policy::Kind::buddies, 1, 0, 1}},
                             {"ring", 4, {Policy::Kind::ring, 1, 0, 1}},
                             {"xor", 4, parity(4)},
                             {"reed_solomon", 5, reed_solomon(5, 2)}};

enum class Place { own_data, own_table, held_data, held_table, parity, own_record, held_record };
constexpr Place kPlaces[] = {Place::own_data, Place::own_table,  Place::held_data,  Place::held_table,
                             Place::parity,   Place::own_record, Place::held_record};

bool exists(Place place, const Setting& setting) {
  if (place == Place::parity) return setting.encodes();
  return setting.encodes() ? place != Place::held_data && place != Place::held_table : true;
}

// Two snapshots, of all elements and of some.
class Corrupted : public PartialJob {
 public:
  explicit Corrupted(const Setting& setting, std::uint64_t count = kCount)
      : PartialJob(setting.size, 1, count, 0, setting.policy), setting_(setting), count_(count) {
    store_and_commit({0, count}, 1);
    store_and_commit({count / 4, count - count / 8}, 2);
    remember();
  }

  // Returns the bytes of a place of a rank. For the records that it keeps, these are the bytes of its first copy.
  std::span<std::byte> bytes(int number, Place place) {
    Member& member = member_of(rank(number));
    const auto own = member.memory.own_slot(kSlot);
    switch (place) {
      case Place::own_data:
        return own.data.first(4 * count_);
      case Place::own_table:
        return std::as_writable_bytes(own.table.first(fenix_impl::hash_blocks(4 * count_)));
      case Place::held_data:
        return member.memory.held_slot(kSlot).data.first(4 * count_);
      case Place::held_table:
        return std::as_writable_bytes(member.memory.held_slot(kSlot).table.first(fenix_impl::hash_blocks(4 * count_)));
      case Place::parity:
        return member.memory.held_slot(kSlot).data;
      case Place::own_record:
        return latest_record(number, 0);
      case Place::held_record:
        return latest_record(number, 1);
    }
    return {};
  }

  void flip(int number, Place place, std::size_t bit) {
    const auto there = bytes(number, place);
    bit %= there.size() * 8;
    there[bit / 8] ^= std::byte{1} << (bit % 8);
  }

  // Bits all over the data of some ranks.
  void flip_all(int first, int last) {
    for (int number = first; number <= last; ++number) {
      for (std::size_t byte = 0; byte < 4 * count_; byte += 64) flip(number, Place::own_data, 8 * byte + 1);
    }
  }

  // A rank that has a copy of the data or the record of another one.
  [[nodiscard]] int keeper(int number) { return rank(number).group->ranks().placement.holder(number, 0); }

  // How many ranks' damage the verification told of, the same on all.
  fenix_impl::Verified verify() {
    fenix_impl::Verified result;
    expect_done(run([&](Rank& each) {
      const auto found = each.group->verify_all();
      if (each.number == 0) result = found;
    }));
    return result;
  }

  // Each member's slots are what they were.
  void expect_as_before() {
    for (Rank& each : ranks()) {
      const auto& before = sound_[static_cast<std::size_t>(each.number)];
      const auto now = slots_of(each);
      EXPECT_TRUE(std::equal(now.begin(), now.end(), before.begin(), before.end())) << "rank " << each.number;
    }
  }

  // Every snapshot that ranks are told of is the same on all, and right, or an error for all. Returns the latest that is right.
  std::optional<int> restorable() {
    std::vector<std::vector<int>> stamps(static_cast<std::size_t>(size()));
    expect_done(
        run([&](Rank& each) { stamps[static_cast<std::size_t>(each.number)] = each.group->snapshots().on_all(); }));
    for (const auto& each : stamps) EXPECT_EQ(each, stamps[0]);
    std::optional<int> latest;
    for (const int stamp : stamps[0]) {
      const auto outcomes = run([&](Rank& each) {
        Words target(count_);
        (void)each.group->restore(kMember, at(stamp), {target.data(), count_}, [] {});
        EXPECT_TRUE(target == stored_[static_cast<std::size_t>(stamp)][static_cast<std::size_t>(each.number)])
            << "rank " << each.number << ", time stamp " << stamp;
      });
      if (outcomes[0].ending == Ending::done) {
        expect_done(outcomes);
        latest = std::max(stamp, latest.value_or(-1));
      } else {
        expect_error(outcomes, FENIX_ERROR_NODATA_FOUND);
      }
    }
    return latest;
  }

  // True if the group lost its snapshots: the same on all ranks.
  bool rejoin_without(const std::vector<int>& dead) {
    for (const int each : dead) kill(each);
    repair();
    std::vector<int> lost(static_cast<std::size_t>(size()));
    expect_done(run([&](Rank& each) {
      const fenix_impl::GroupParameters parameters{5, 0, 1, setting_.policy};
      lost[static_cast<std::size_t>(each.number)] = join(each, parameters).snapshots_lost ? 1 : 0;
      each.buffers[kMember].resize(count_);
      if (Member* member = each.group->find(kMember)) member->set_buffer(each.buffers[kMember].data());
    }));
    for (const int each : lost) EXPECT_EQ(each, lost[0]);
    return lost[0] != 0;
  }

 private:
  void store_and_commit(const fenix_impl::IntervalSet& elements, unsigned seed) {
    expect_done(run([&](Rank& each) {
      change(each, model(each), elements, 100 * seed + static_cast<unsigned>(each.number));
      store_elements(each, kMember, Selection::some(elements));
      commit_barrier(each);
    }));
    std::vector<Words>& stored = stored_.emplace_back();
    for (const Elements& each : models) {
      Words& mine = stored.emplace_back();
      for (const auto& there : each.there.intervals()) {
        mine.insert(mine.end(), each.words.data() + there.first, each.words.data() + there.end);
      }
    }
  }

  static std::span<const std::byte> slots_of(Rank& each) {
    const Member& member = member_of(each);
    return member.memory.region().bytes().subspan(member.memory.layout().own_offset(0));
  }

  void remember() {
    for (Rank& each : ranks()) {
      const auto bytes = slots_of(each);
      sound_.emplace_back(bytes.begin(), bytes.end());
    }
  }

  // Returns the record in the own log, or in that of the first rank that this one keeps copies for: see docs/log-format.md.
  std::span<std::byte> latest_record(int number, std::size_t log) {
    const auto region = rank(number).path->first_region();
    const std::size_t places = 9;
    const std::size_t logs = setting_.encodes() ? 3 * 4096 + RecordLog::kEntryBytes : 2 * 4096;
    const auto area = region.subspan(logs + log * places * RecordLog::kEntryBytes, places * RecordLog::kEntryBytes);
    if (!record_bytes_) {
      const auto all = RecordLog(area, 0).read_all();
      place_ = all.at(1).entry;
      record_bytes_ = fenix_impl::record_bytes(all.at(1).record);
    }
    return area.subspan(place_ * RecordLog::kEntryBytes, *record_bytes_);
  }

  const Setting& setting_;
  const std::uint64_t count_;
  std::vector<std::vector<Words>> stored_;  // by time stamp and rank
  std::vector<std::vector<std::byte>> sound_;
  std::uint32_t place_ = 0;  // of the latest record, the same on all ranks
  std::optional<std::size_t> record_bytes_;
};

// Runs scenario(job, place, damaged rank, bit) for random flips. It returns whether the job is as it was.
template <class Scenario>
void for_flips(int times, Scenario scenario) {
  std::mt19937_64 random(random_seed());
  for (const Setting& setting : kSettings) {
    std::unique_ptr<Corrupted> job;
    for (const Place place : kPlaces) {
      if (!exists(place, setting)) continue;
      for (int flip = 0; flip < times && !testing::Test::HasFailure(); ++flip) {
        const int rank = static_cast<int>(random() % static_cast<unsigned>(setting.size));
        const std::size_t bit = random();
        SCOPED_TRACE(testing::Message() << setting.name << ", place " << static_cast<int>(place) << " of rank " << rank
                                        << ", bit " << bit);
        if (!job) job = std::make_unique<Corrupted>(setting);
        if (!scenario(*job, setting, place, rank, bit)) job.reset();
      }
    }
  }
}

TEST(Corruption, RestoreGivesWhatWasStored) {
  for_flips(flips(), [](Corrupted& job, const Setting&, Place place, int rank, std::size_t bit) {
    job.flip(rank, place, bit);
    EXPECT_EQ(job.restorable(), 1);
    EXPECT_EQ(job.restorable(), 1);
    const auto left = job.verify();
    EXPECT_EQ(left.lost, 0U);
    job.expect_as_before();
    return true;
  });
}

TEST(Corruption, VerificationFindsAndMendsIt) {
  for_flips(flips(), [](Corrupted& job, const Setting&, Place place, int rank, std::size_t bit) {
    job.flip(rank, place, bit);
    const auto found = job.verify();
    EXPECT_EQ(found.mended, 1U);
    EXPECT_EQ(found.lost, 0U);
    EXPECT_EQ(job.verify().mended, 0U);
    job.expect_as_before();
    EXPECT_EQ(job.restorable(), 1);
    return true;
  });
}

// The damaged memory goes with its rank, or another rank dies. What both together have taken away is in the last part.
TEST(Corruption, AndADeath) {
  for_flips(flips() / 2, [](Corrupted& job, const Setting& setting, Place place, int rank, std::size_t bit) {
    const int shift = static_cast<int>(bit >> 40) % setting.size;
    const int dead = (rank + shift) % setting.size;
    const bool with_its_rank = dead == rank;
    const int needs = job.keeper(rank);
    // Whose data or record it is a copy of.
    const bool of_the_dead = job.rank(rank).group->ranks().placement.kept(rank, 0) == dead;
    job.flip(rank, place, bit);
    const bool lost = job.rejoin_without({dead});
    const auto latest = job.restorable();
    const bool two_losses = setting.policy.losses > 1;
    const bool survives = [&] {
      if (with_its_rank || two_losses) return true;
      switch (place) {
        case Place::own_data:
          return setting.encodes() ? false : dead != needs;
        case Place::held_data:
        case Place::held_record:
          return !of_the_dead;
        case Place::parity:
          return false;
        default:
          return true;  // made again from what is there
      }
    }();
    EXPECT_EQ(lost && latest.has_value(), false);
    if (survives) {
      EXPECT_EQ(latest, 1) << "rank " << dead << " died";
    }
    if (latest == 1) {
      EXPECT_EQ(job.verify().lost, 0U);
      EXPECT_EQ(job.restorable(), 1);
      EXPECT_EQ(job.verify().mended, 0U);
      // As good as new: the next one is tolerated as well.
      EXPECT_FALSE(job.rejoin_without({(dead + 1) % setting.size}));
      EXPECT_EQ(job.restorable(), 1);
    }
    return false;
  });
}

TEST(Corruption, AndTwoDeathsOfTwoTolerated) {
  const Setting& setting = kSettings[3];
  for (const Place place : {Place::own_table, Place::own_record}) {
    Corrupted job(setting);
    job.flip(0, place, 77);
    EXPECT_FALSE(job.rejoin_without({1, 3}));
    EXPECT_EQ(job.restorable(), 1);
  }
}

// Each bit of a record.
TEST(Corruption, OfAnyBitOfARecordIsFoundAndMended) {
  Corrupted job(kSettings[1], 50);
  const std::size_t bits = job.bytes(0, Place::own_record).size() * 8;
  for (const Place place : {Place::own_record, Place::held_record}) {
    const auto bytes = job.bytes(1, place);
    const std::vector<std::byte> before(bytes.begin(), bytes.end());
    expect_done(job.run([&](Rank& rank) {
      for (std::size_t bit = 0; bit < bits; ++bit) {
        if (rank.number == 1) job.flip(1, place, bit);
        rank.team->barrier();
        const auto found = rank.group->verify_all();
        ASSERT_EQ(found.mended, 1U) << "bit " << bit;
        ASSERT_EQ(found.lost, 0U);
      }
    }));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), before.begin()));
  }
}

// Both records of a rank that lives: it knows what it has committed.
TEST(Corruption, OfBothCopiesOfARecordIsMendedByItsOwner) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.name);
    for (const bool dies : {false, true}) {
      Corrupted job(setting);
      job.flip(2, Place::own_record, 300);
      job.flip(job.keeper(2), Place::held_record, 500);
      if (dies) {
        EXPECT_FALSE(job.rejoin_without({0}));
      } else {
        EXPECT_EQ(job.verify().mended, 2U);
      }
      EXPECT_EQ(job.restorable(), 1);
      EXPECT_EQ(job.verify().mended, 0U);
    }
  }
}

// Nobody knows the record of a dead rank: all go back to the snapshot before it, or get an error if there is none.
TEST(Corruption, OfTheLastRecordOfADeadRankGoesBackOrIsALoss) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.name);
    for (const bool both : {false, true}) {
      Corrupted job(setting);
      const int keeper = job.keeper(2);
      job.flip(keeper, Place::held_record, 300);
      if (both) {
        // The one before as well: its place is the first.
        const auto latest = job.bytes(keeper, Place::held_record);
        *(latest.data() - RecordLog::kEntryBytes + 40) ^= std::byte{1};
      }
      const bool lost = job.rejoin_without({2});
      const bool has_another_copy = setting.policy.losses > 1;
      EXPECT_EQ(lost, both && !has_another_copy);
      const auto expected = has_another_copy ? std::optional(1) : both ? std::nullopt : std::optional(0);
      EXPECT_EQ(job.restorable(), expected);
    }
  }
}

// Data and its copy, or more of a redundancy set than its parities: an error for all, and the older snapshot is still there.
TEST(Corruption, BeyondRepairIsAnErrorForAll) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.name);
    Corrupted job(setting);
    constexpr std::size_t kBit = 8 * 50'000;
    job.flip(1, Place::own_data, kBit);
    job.flip(job.keeper(1), setting.encodes() ? Place::own_data : Place::held_data, kBit + 9);
    if (setting.encodes()) job.flip_all(1, 1 + setting.policy.losses);
    EXPECT_GT(job.verify().lost, 0U);
    EXPECT_EQ(job.restorable(), 0);
  }
}

// What another rank has stored is decoded without a rank that is damaged, too.
TEST(Corruption, OfTwoRanksDoesNotStopARestoreFromOne) {
  Corrupted job(kSettings[3]);
  job.flip_all(1, 2);
  // Only read: operator[] of Elements changes them, and all ranks compare with these.
  const Words& stored = job.models[1].words;
  ASSERT_GE(stored.size(), kCount);
  expect_done(job.run([&](Rank& rank) {
    Words target(kCount);
    (void)rank.group->restore_from(kMember, kLatest, {target.data(), kCount}, 1, [] {});
    for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(target[i], stored[i]);
  }));
}

}  // namespace
}  // namespace fenix_test
