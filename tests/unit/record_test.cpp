// SPDX-License-Identifier: BSD-3-Clause
// The record format: what is read is what was written, and nothing else is ever read.
#include "core/log/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr auto kMost64 = std::numeric_limits<std::uint64_t>::max();

IntervalSet pieces(std::size_t count) {
  std::vector<Interval> intervals;
  for (std::uint64_t i = 0; i < count; ++i) intervals.push_back({10 * i + 3, 10 * i + 5 + i % 5});
  return IntervalSet::of(intervals);
}

MemberVersion version(std::int32_t id, const IntervalSet& found) {
  const auto number = static_cast<std::uint64_t>(id);
  return {id,   static_cast<std::uint32_t>(id) % 3, 8, 100 + number, {number % 7 + 1}, 0x9e3779b97f4a7c15 * number,
          found};
}

// Members have 0, 1, 2, 3, 0, … intervals.
Record record_with(std::size_t members) {
  Record record{{7}, {3}, 41, 5, 2, {4}, false, {}};
  for (std::size_t i = 0; i < members; ++i) {
    record.members.push_back(version(static_cast<std::int32_t>(i), pieces(i % 4)));
  }
  return record;
}

// One member with [3, 5), [13, 16) and [23, 27).
Record record_of_three_pieces() {
  Record record = record_with(0);
  record.members.push_back(version(0, pieces(3)));
  return record;
}

// A field: its place in the format and its length (docs/log-format.md).
struct Field {
  std::size_t offset;
  std::size_t bytes;
};

constexpr Field kSeal{0, 8};
constexpr Field kChecksum{8, 8};
constexpr Field kMagic{16, 4};
constexpr Field kVersion{20, 2};
constexpr Field kHeadBytes{22, 2};
constexpr Field kLength{24, 4};
constexpr Field kMemberCount{28, 4};
constexpr Field kEpoch{32, 8};
constexpr Field kGeneration{40, 4};
constexpr Field kTimeStamp{44, 4};
constexpr Field kGroupId{48, 4};
constexpr Field kOwner{52, 4};
constexpr Field kOldestKept{56, 8};
constexpr Field kFlags{64, 4};
constexpr Field kIntervalCount{68, 4};
constexpr Field kReserved{72, 8};

constexpr std::size_t kFirstMember = 80;
constexpr std::size_t kEntry = 64;
constexpr Field kMemberId{0, 4};
constexpr Field kSlot{4, 4};
constexpr Field kSize{8, 8};
constexpr Field kElementBytes{16, 4};
constexpr Field kMemberIntervals{20, 4};
constexpr Field kStoredIn{24, 8};
constexpr Field kHash{32, 8};
constexpr Field kIntervalOffset{40, 8};

constexpr Field of_member(std::size_t number, Field field) {
  return {kFirstMember + number * kEntry + field.offset, field.bytes};
}

// For records of one member.
constexpr Field first_of_interval(std::size_t number) { return {kFirstMember + kEntry + 16 * number, 8}; }
constexpr Field end_of_interval(std::size_t number) { return {kFirstMember + kEntry + 16 * number + 8, 8}; }

void put(std::vector<std::byte>& bytes, Field field, std::uint64_t value) {
  std::memcpy(bytes.data() + field.offset, &value, field.bytes);
}

std::uint64_t get(const std::vector<std::byte>& bytes, Field field) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + field.offset, field.bytes);
  return value;
}

void seal(std::vector<std::byte>& bytes, Epoch epoch) { put(bytes, kSeal, record_seal(epoch)); }

// Makes the checksum right again, so that a test reaches the checks behind it.
void sign(std::vector<std::byte>& bytes) { put(bytes, kChecksum, hash_bytes(std::span(bytes).subspan(16))); }

std::vector<std::byte> sealed(const Record& record) {
  std::vector<std::byte> bytes(record_bytes(record));
  EXPECT_EQ(encode(record, bytes), bytes.size());
  seal(bytes, record.epoch);
  return bytes;
}

// With a right checksum.
std::vector<std::byte> changed(const Record& record, Field field, std::uint64_t value) {
  auto bytes = sealed(record);
  put(bytes, field, value);
  sign(bytes);
  return bytes;
}

void expect_round_trip(const Record& record) {
  const auto read = decode(sealed(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, record);
}

TEST(Record, ReadsWhatWasWritten) {
  for (const auto members : std::initializer_list<std::size_t>{0, 1, 2, 3, 4, 5, 100, 5000}) {
    SCOPED_TRACE(members);
    expect_round_trip(record_with(members));
  }
}

TEST(Record, ReadsManyIntervalsOfSeveralMembers) {
  Record record = record_with(0);
  for (const auto count : std::initializer_list<std::size_t>{0, 1, 1000, 0, 3, 20000, 1}) {
    record.members.push_back(version(static_cast<std::int32_t>(record.members.size()), pieces(count)));
  }
  expect_round_trip(record);
}

TEST(Record, ReadsThatASnapshotWasDeleted) {
  for (const auto members : std::initializer_list<std::size_t>{0, 2}) {
    Record record = record_with(members);
    record.deleted = true;
    expect_round_trip(record);
    record.deleted = false;
    expect_round_trip(record);
  }
}

TEST(Record, ReadsExtremeValues) {
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  const auto of = [](std::int32_t value, std::uint64_t large, const MemberVersion& member) {
    return Record{{std::max<std::uint64_t>(large, 1)},
                  {static_cast<std::uint32_t>(large)},
                  value,
                  value,
                  value,
                  {large},
                  large != 0,
                  {member}};
  };
  expect_round_trip(of(most, kMost64, {most, kMost32, 1, kMost64, {kMost64}, kMost64, IntervalSet::everything()}));
  expect_round_trip(of(most, kMost64, {most, kMost32, 1, 0, {1}, 0, {kMost64 - 1, kMost64}}));
  expect_round_trip(of(least, 0, {least, 0, 0, 0, {1}, 0, {}}));
  const std::uint64_t largest = kMost64 / kMost32;
  expect_round_trip(of(0, 0, {0, 0, kMost32, largest, {1}, 0, {0, largest}}));
}

// Found may lack elements of the member, and go beyond them.
TEST(Record, SizeAndFoundAreIndependent) {
  Record record = record_with(0);
  for (const auto size : std::initializer_list<std::uint64_t>{0, 1, 4, 27, 28, 1000}) {
    record.members.push_back(version(static_cast<std::int32_t>(size), pieces(3)));
    record.members.back().size = size;
  }
  expect_round_trip(record);
}

TEST(Record, BytesOfAVersionEndWithItsLastElement) {
  EXPECT_EQ(version(0, pieces(3)).bytes(), 27U * 8);
  EXPECT_EQ(version(0, {}).bytes(), 0U);
}

TEST(Record, FieldsAreWhereTheFormatHasThem) {
  Record record{{0x1112131415161718}, {0x21222324}, 0x31323334, 0x41424344, 0x51525354, {0x6162636465666768}, true, {}};
  record.members.push_back(version(1, {}));
  record.members.push_back({0x71727374,
                            0x81828384,
                            0x91929394,
                            0x1a2,
                            {0xb1b2b3b4b5b6b7b8},
                            0xc1c2c3c4c5c6c7c8,
                            IntervalSet::of({{5, 6}, {9, 12}})});
  const auto bytes = sealed(record);
  ASSERT_EQ(bytes.size(), 80U + 2 * 64 + 2 * 16);
  const std::pair<Field, std::uint64_t> expected[] = {
      {kSeal, 0x1112131415161718},
      {kChecksum, hash_bytes(std::span(bytes).subspan(16))},
      {kMagic, 0x58494e46},
      {kVersion, 2},
      {kHeadBytes, 80},
      {kLength, bytes.size()},
      {kMemberCount, 2},
      {kEpoch, 0x1112131415161718},
      {kGeneration, 0x21222324},
      {kTimeStamp, 0x31323334},
      {kGroupId, 0x41424344},
      {kOwner, 0x51525354},
      {kOldestKept, 0x6162636465666768},
      {kFlags, 1},
      {kIntervalCount, 2},
      {kReserved, 0},
      {of_member(0, kMemberIntervals), 0},
      {of_member(0, kIntervalOffset), 80 + 2 * 64},
      {of_member(1, kMemberId), 0x71727374},
      {of_member(1, kSlot), 0x81828384},
      {of_member(1, kSize), 0x1a2},
      {of_member(1, kElementBytes), 0x91929394},
      {of_member(1, kMemberIntervals), 2},
      {of_member(1, kStoredIn), 0xb1b2b3b4b5b6b7b8},
      {of_member(1, kHash), 0xc1c2c3c4c5c6c7c8},
      {of_member(1, kIntervalOffset), 80 + 2 * 64},
      {of_member(1, {48, 8}), 0},
      {of_member(1, {56, 8}), 0},
      {{208, 8}, 5},
      {{216, 8}, 6},
      {{224, 8}, 9},
      {{232, 8}, 12},
  };
  for (const auto& [field, value] : expected) EXPECT_EQ(get(bytes, field), value) << "offset " << field.offset;
}

TEST(Record, LengthIsThatOfHeadMembersAndIntervals) {
  EXPECT_EQ(record_bytes(0, 0), 80U);
  EXPECT_EQ(record_bytes(3, 5), 80U + 3 * 64 + 5 * 16);
  EXPECT_EQ(record_bytes(record_with(4)), record_bytes(4, 0 + 1 + 2 + 3));
}

TEST(Record, ReadsPastBytesThatFollow) {
  const Record record = record_with(4);
  auto bytes = sealed(record);
  bytes.resize(bytes.size() + 1000, std::byte{0xab});
  const auto read = decode(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, record);
}

TEST(Record, SealIsNeverZero) {
  for (const std::uint64_t epoch : {std::uint64_t{1}, std::uint64_t{2}, kMost64}) EXPECT_NE(record_seal({epoch}), 0U);
}

TEST(Record, IsNotReadBeforeItIsSealed) {
  const Record record = record_with(2);
  std::vector<std::byte> bytes(record_bytes(record), std::byte{0xff});
  encode(record, bytes);
  EXPECT_FALSE(decode(bytes));
  for (const std::uint64_t wrong : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{8}, kMost64}) {
    put(bytes, kSeal, wrong);
    EXPECT_FALSE(decode(bytes)) << "seal " << wrong;
  }
  seal(bytes, record.epoch);
  EXPECT_TRUE(decode(bytes));
}

TEST(Record, RejectsEveryFlippedBit) {
  for (const auto members : std::initializer_list<std::size_t>{0, 1, 2, 4}) {
    auto bytes = sealed(record_with(members));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto mask = static_cast<std::byte>(1U << bit % 8);
      bytes[bit / 8] ^= mask;
      EXPECT_FALSE(decode(bytes)) << members << " members, bit " << bit;
      bytes[bit / 8] ^= mask;
    }
    EXPECT_TRUE(decode(bytes));
  }
}

TEST(Record, RejectsEveryTruncation) {
  const auto bytes = sealed(record_with(4));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length))) << length << ", with the rest behind it";
    // A copy of that very length: the sanitizer sees reads past its end.
    const std::vector<std::byte> shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(decode(shorter)) << length;
  }
}

TEST(Record, RejectsRandomBytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 50000; ++i) {
    std::vector<std::byte> bytes(random() % 300);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    ASSERT_FALSE(decode(bytes)) << "try " << i;
  }
}

// What encode would not write is not read. Reserved bytes and flags that are not known do not count.
void expect_what_was_read_to_be_all(std::vector<std::byte> bytes, const Record& read) {
  put(bytes, kReserved, 0);
  put(bytes, kFlags, get(bytes, kFlags) & 1);
  for (std::size_t i = 0; i < read.members.size(); ++i) {
    put(bytes, of_member(i, {48, 8}), 0);
    put(bytes, of_member(i, {56, 8}), 0);
  }
  sign(bytes);
  ASSERT_EQ(sealed(read), bytes);
}

void expect_sound(const Record& record) {
  for (const MemberVersion& member : record.members) {
    EXPECT_NE(member.stored_in.value, 0U);
    std::uint64_t end = 0;
    for (const Interval& each : member.found.intervals()) {
      EXPECT_LT(each.first, each.end);
      EXPECT_TRUE(each.first > end || &each == member.found.intervals().data()) << each.first << " after " << end;
      end = each.end;
    }
    if (member.element_bytes > 0) {
      EXPECT_LE(end, kMost64 / member.element_bytes);
      EXPECT_LE(member.size, kMost64 / member.element_bytes);
    }
  }
}

// Random fields and a right checksum: what only the checks of the contents can find. Most of the fields are right.
TEST(Record, ReadsNothingThatIsNotSoundFromRandomFieldsWithARightChecksum) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 100000; ++i) {
    auto bytes = sealed(record_with(random() % 5));
    for (std::uint64_t change = 0; change <= random() % 3; ++change) {
      const std::size_t size = random() % 2 == 0 ? 4 : 8;
      const Field field{size * (random() % (bytes.size() / size)), size};
      const std::uint64_t values[] = {random(), kMost64 - random() % 200, random() % 50, get(bytes, field) + 1,
                                      get(bytes, field) - 1};
      put(bytes, field, values[random() % std::size(values)]);
    }
    sign(bytes);
    const auto read = decode(bytes);
    ++(read ? accepted : refused);
    if (!read) continue;
    expect_sound(*read);
    // A shorter length leaves bytes behind the record.
    bytes.resize(get(bytes, kLength));
    expect_what_was_read_to_be_all(bytes, *read);
    ASSERT_FALSE(HasFailure()) << "try " << i;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Record, RejectsCountsThatDoNotFit) {
  const Record record = record_of_three_pieces();
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4}, std::uint64_t{1} << 26,
                                    std::uint64_t{1} << 28, std::uint64_t{kMost32}}) {
    EXPECT_FALSE(decode(changed(record, kMemberCount, count))) << count << " members";
    EXPECT_FALSE(decode(changed(record, kIntervalCount, count))) << count << " intervals";
    EXPECT_FALSE(decode(changed(record, of_member(0, kMemberIntervals), count))) << count << " intervals of the member";
  }
}

// As many bytes, divided up in another way: an entry of a member has as many as four intervals.
TEST(Record, RejectsIntervalsThatAreTakenForAMember) {
  Record record = record_with(0);
  record.members.push_back(version(0, pieces(4)));
  auto bytes = sealed(record);
  put(bytes, kMemberCount, 2);
  put(bytes, kIntervalCount, 0);
  sign(bytes);
  EXPECT_FALSE(decode(bytes));
}

TEST(Record, RejectsIntervalsThatBelongToNobodyOrToTwo) {
  Record record = record_with(0);
  record.members = {version(0, pieces(1)), version(1, pieces(1))};
  // Both name the first one; then the second one is left over, or the second member would have it.
  auto bytes = changed(record, of_member(1, kIntervalOffset), 80 + 2 * 64);
  EXPECT_FALSE(decode(bytes));
  bytes = changed(record, of_member(1, kMemberIntervals), 0);
  EXPECT_FALSE(decode(bytes)) << "one is left over";
  bytes = changed(record, of_member(0, kMemberIntervals), 2);
  EXPECT_FALSE(decode(bytes)) << "one has two members";
  // The right intervals in the other order.
  bytes = changed(record, of_member(0, kIntervalOffset), 80 + 2 * 64 + 16);
  put(bytes, of_member(1, kIntervalOffset), 80 + 2 * 64);
  sign(bytes);
  EXPECT_FALSE(decode(bytes)) << "in the other order";
}

TEST(Record, RejectsPlacesOfIntervalsThatAreNotTheirs) {
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{80}, std::uint64_t{128}, std::uint64_t{143}, std::uint64_t{145},
        std::uint64_t{160}, std::uint64_t{192}, kMost64 - 15, kMost64 - 7, kMost64}) {
    EXPECT_FALSE(decode(changed(record_of_three_pieces(), of_member(0, kIntervalOffset), offset))) << offset;
  }
}

TEST(Record, RejectsALengthThatDoesNotFit) {
  const Record record = record_of_three_pieces();
  for (const std::uint64_t length : {0U, 1U, 79U, 80U, 144U, 191U, 193U, 208U, 1U << 31, kMost32}) {
    EXPECT_FALSE(decode(changed(record, kLength, length))) << length;
  }
}

struct BadIntervals {
  const char* what;
  std::vector<Interval> intervals;
};

TEST(Record, RejectsIntervalsThatNoSetHas) {
  const BadIntervals all[] = {
      {"not sorted", {{13, 16}, {3, 5}, {23, 27}}},
      {"the last ones not sorted", {{3, 5}, {23, 27}, {13, 16}}},
      {"overlapping", {{3, 14}, {13, 16}, {23, 27}}},
      {"one within another", {{3, 5}, {13, 30}, {23, 27}}},
      {"twice the same", {{3, 5}, {13, 16}, {13, 16}}},
      {"adjacent", {{3, 13}, {13, 16}, {23, 27}}},
      {"the last ones adjacent", {{3, 5}, {13, 23}, {23, 27}}},
      {"an empty one", {{3, 3}, {13, 16}, {23, 27}}},
      {"an empty one last", {{3, 5}, {13, 16}, {27, 27}}},
      {"all zero", {{0, 0}, {0, 0}, {0, 0}}},
      {"one that ends before it begins", {{3, 5}, {16, 13}, {23, 27}}},
      {"one that wraps around", {{3, 5}, {13, 16}, {kMost64, 2}}},
  };
  for (const BadIntervals& bad : all) {
    auto bytes = sealed(record_of_three_pieces());
    for (std::size_t i = 0; i < bad.intervals.size(); ++i) {
      put(bytes, first_of_interval(i), bad.intervals[i].first);
      put(bytes, end_of_interval(i), bad.intervals[i].end);
    }
    sign(bytes);
    EXPECT_FALSE(decode(bytes)) << bad.what;
  }
}

TEST(Record, RejectsMembersWhoseSizeOverflows) {
  const Record record = record_of_three_pieces();
  for (const std::uint64_t size : {kMost64, kMost64 / 8 + 1}) {
    EXPECT_FALSE(decode(changed(record, of_member(0, kSize), size))) << size;
    EXPECT_FALSE(decode(changed(record, end_of_interval(2), size))) << "found up to " << size;
  }
  EXPECT_TRUE(decode(changed(record, of_member(0, kSize), kMost64 / 8))) << "the largest size that is none too large";
  const auto read = decode(changed(record, end_of_interval(2), kMost64 / 8));
  ASSERT_TRUE(read) << "the largest end that is none too large";
  EXPECT_EQ(read->members[0].bytes(), kMost64 / 8 * 8);
  auto bytes = changed(record, of_member(0, kElementBytes), kMost32);
  EXPECT_TRUE(decode(bytes)) << "large elements";
  put(bytes, end_of_interval(2), kMost64 / kMost32 + 1);
  sign(bytes);
  EXPECT_FALSE(decode(bytes)) << "one too many of them";
}

TEST(Record, RejectsFieldsOfOtherFormats) {
  struct Change {
    const char* what;
    Field field;
    std::uint64_t value;
  };
  const Change changes[] = {
      {"magic", kMagic, 0x58494e47},
      {"version before", kVersion, 1},
      {"version after", kVersion, 3},
      {"head of version 1", kHeadBytes, 64},
      {"longer head", kHeadBytes, 128},
      {"epoch other than that of the seal", kEpoch, 8},
      {"stored in no epoch", of_member(0, kStoredIn), 0},
  };
  for (const Change& change : changes) {
    EXPECT_FALSE(decode(changed(record_of_three_pieces(), change.field, change.value))) << change.what;
  }
  EXPECT_TRUE(decode(changed(record_of_three_pieces(), kVersion, 2))) << "not for the change as such";
}

TEST(Record, RejectsEpochZeroEvenIfSealed) {
  Record record = record_with(0);
  record.epoch = {0};
  EXPECT_FALSE(decode(sealed(record)));
}

TEST(Record, RefusesAPlaceThatIsTooSmall) {
  const Record record = record_with(4);
  std::vector<std::byte> bytes(record_bytes(record) - 1);
  EXPECT_THROW(encode(record, bytes), Error);
}

TEST(Record, WritesNothingBehindItsEnd) {
  const Record record = record_with(4);
  const std::size_t length = record_bytes(record);
  std::vector<std::byte> bytes(length + 64, std::byte{0xab});
  EXPECT_EQ(encode(record, bytes), length);
  EXPECT_EQ(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(length), bytes.end(), std::byte{0xab}), 64);
}

TEST(LengthInHead, IsThatOfTheRecord) {
  const auto bytes = sealed(record_with(4));
  const auto head = std::span(bytes).first(record_format::kHeadBytes);
  EXPECT_EQ(length_in_head(head, 1 << 20), bytes.size());
  EXPECT_EQ(length_in_head(head, bytes.size()), bytes.size());
  EXPECT_EQ(length_in_head(head, bytes.size() - 1), std::nullopt) << "more than there can be";
}

TEST(LengthInHead, IsAtLeastThatOfAHead) {
  auto bytes = sealed(record_with(0));
  EXPECT_EQ(length_in_head(bytes, 1 << 20), 80U);
  for (const std::uint64_t length : {0U, 1U, 79U}) {
    put(bytes, kLength, length);
    EXPECT_EQ(length_in_head(bytes, 1 << 20), std::nullopt) << length;
  }
}

TEST(LengthInHead, IsNeverTooLargeWhateverTheBytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  int given = 0;
  for (int i = 0; i < 10000; ++i) {
    std::vector<std::byte> head(record_format::kHeadBytes);
    for (auto& byte : head) byte = static_cast<std::byte>(random());
    const std::size_t available = random() >> (random() % 64);
    const auto length = length_in_head(head, available);
    given += length ? 1 : 0;
    if (length) {
      ASSERT_GE(*length, 80U);
      ASSERT_LE(*length, available);
    }
  }
  EXPECT_GT(given, 0);
}

TEST(Record, FindsMembersById) {
  const Record record = record_with(3);
  ASSERT_NE(record.find(1), nullptr);
  EXPECT_EQ(record.find(1)->member_id, 1);
  EXPECT_EQ(record.find(3), nullptr);
}

}  // namespace
}  // namespace fenix_impl
