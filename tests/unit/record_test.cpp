// SPDX-License-Identifier: BSD-3-Clause
// The record format: what is read is what was written, and nothing else is ever read.
#include "core/record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace fenix_impl {
namespace {

constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr auto kMost64 = std::numeric_limits<std::uint64_t>::max();

Record record_with(std::size_t members) {
  Record record{{7}, {3}, 41, 5, 2, {}};
  for (std::size_t i = 0; i < members; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    record.members.push_back({id, static_cast<std::uint32_t>(i % 3), 100 + i, 8, {i % 7 + 1}, 0x9e3779b97f4a7c15 * i});
  }
  return record;
}

void put(std::vector<std::byte>& bytes, std::size_t offset, std::uint64_t value, std::size_t size = sizeof(value)) {
  std::memcpy(bytes.data() + offset, &value, size);
}

void seal(std::vector<std::byte>& bytes, Epoch epoch) { put(bytes, 0, record_seal(epoch)); }

std::vector<std::byte> sealed(const Record& record) {
  std::vector<std::byte> bytes(record_bytes(record.members.size()));
  EXPECT_EQ(encode(record, bytes), bytes.size());
  seal(bytes, record.epoch);
  return bytes;
}

// Places in the format (docs/log-format.md).
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kMagic = 16;
constexpr std::size_t kVersion = 20;
constexpr std::size_t kHeadBytes = 22;
constexpr std::size_t kLength = 24;
constexpr std::size_t kMemberCount = 28;
constexpr std::size_t kEpoch = 32;
constexpr std::size_t kFirstMember = 64;
constexpr std::size_t kCountOfMember = kFirstMember + 8;
constexpr std::size_t kIntervalCountOfMember = kFirstMember + 20;
constexpr std::size_t kStoredInOfMember = kFirstMember + 24;
constexpr std::size_t kIntervalOffsetOfMember = kFirstMember + 40;

// Makes the checksum right again, so that a test reaches the checks behind it.
void sign(std::vector<std::byte>& bytes) { put(bytes, kChecksum, hash_bytes(std::span(bytes).subspan(kMagic))); }

void expect_round_trip(const Record& record) {
  const auto read = decode(sealed(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, record);
}

TEST(Record, ReadsWhatWasWritten) {
  for (const std::size_t members : {0, 1, 2, 3, 100, 5000}) {
    SCOPED_TRACE(members);
    expect_round_trip(record_with(members));
  }
}

TEST(Record, ReadsExtremeValues) {
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  expect_round_trip({{kMost64}, {kMost32}, most, most, most, {{most, kMost32, kMost64, 1, {kMost64}, kMost64}}});
  expect_round_trip({{1}, {0}, least, least, least, {{least, 0, 0, 0, {1}, 0}}});
  expect_round_trip({{1}, {0}, 0, 0, 0, {{0, 0, kMost64 / kMost32, kMost32, {1}, 0}}});
}

TEST(Record, ReadsPastBytesThatFollow) {
  const Record record = record_with(2);
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
  std::vector<std::byte> bytes(record_bytes(2), std::byte{0xff});
  encode(record, bytes);
  EXPECT_FALSE(decode(bytes));
  for (const std::uint64_t wrong : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{8}, kMost64}) {
    put(bytes, 0, wrong);
    EXPECT_FALSE(decode(bytes)) << "seal " << wrong;
  }
  seal(bytes, record.epoch);
  EXPECT_TRUE(decode(bytes));
}

TEST(Record, RejectsEveryFlippedBit) {
  for (const std::size_t members : {0, 1, 3}) {
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
  const auto bytes = sealed(record_with(3));
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
  for (int i = 0; i < 100000; ++i) {
    std::vector<std::byte> bytes(random() % 300);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    ASSERT_FALSE(decode(bytes)) << "try " << i;
  }
}

// Random bytes with a right checksum: what only the checks of the contents can find. Most of the fields are right.
TEST(Record, SurvivesRandomFieldsWithARightChecksum) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i) {
    auto bytes = sealed(record_with(random() % 4));
    const std::size_t word = 8 * (random() % (bytes.size() / 8));
    put(bytes, word, random() % 2 == 0 ? random() : kMost64 - random() % 200);
    sign(bytes);
    const auto read = decode(bytes);
    if (read) {
      ASSERT_LE(read->members.size(), 3U);
    }
  }
}

TEST(Record, RejectsAMemberCountThatDoesNotFit) {
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 28, std::uint64_t{kMost32}}) {
    auto bytes = sealed(record_with(1));
    put(bytes, kMemberCount, count, 4);
    sign(bytes);
    EXPECT_FALSE(decode(bytes)) << count;
  }
}

TEST(Record, RejectsALengthThatDoesNotFit) {
  for (const std::uint64_t length : {0U, 1U, 63U, 64U, 143U, 145U, 1U << 31, kMost32}) {
    auto bytes = sealed(record_with(1));
    put(bytes, kLength, length, 4);
    sign(bytes);
    EXPECT_FALSE(decode(bytes)) << length;
  }
}

TEST(Record, RejectsMembersWhoseSizeOverflows) {
  auto bytes = sealed(record_with(1));
  const std::size_t interval = kFirstMember + record_format::kMemberBytes;
  for (const std::uint64_t count : {kMost64, kMost64 / 8 + 1}) {
    put(bytes, kCountOfMember, count);
    put(bytes, interval + 8, count);
    sign(bytes);
    EXPECT_FALSE(decode(bytes)) << count;
  }
  put(bytes, kCountOfMember, kMost64 / 8);
  put(bytes, interval + 8, kMost64 / 8);
  sign(bytes);
  EXPECT_TRUE(decode(bytes)) << "the largest size that is none too large";
}

TEST(Record, RejectsFieldsOfOtherFormats) {
  struct Change {
    const char* what;
    std::size_t offset;
    std::uint64_t value;
    std::size_t bytes;
  };
  const std::size_t interval = kFirstMember + record_format::kMemberBytes;
  const Change changes[] = {
      {"magic", kMagic, 0x58494e47, 4},
      {"version", kVersion, 2, 2},
      {"head length", kHeadBytes, 128, 2},
      {"epoch other than that of the seal", kEpoch, 8, 8},
      {"number of intervals", kIntervalCountOfMember, 2, 4},
      {"place of the interval", kIntervalOffsetOfMember, kMost64 - 8, 8},
      {"stored in no epoch", kStoredInOfMember, 0, 8},
      {"interval that starts late", interval, 1, 8},
      {"interval that is short", interval + 8, 99, 8},
  };
  for (const Change& change : changes) {
    auto bytes = sealed(record_with(1));
    put(bytes, change.offset, change.value, change.bytes);
    sign(bytes);
    EXPECT_FALSE(decode(bytes)) << change.what;
  }
}

TEST(Record, RejectsEpochZeroEvenIfSealed) {
  Record record = record_with(0);
  record.epoch = {0};
  EXPECT_FALSE(decode(sealed(record)));
}

TEST(Record, RefusesAPlaceThatIsTooSmall) {
  std::vector<std::byte> bytes(record_bytes(2) - 1);
  EXPECT_THROW(encode(record_with(2), bytes), Error);
}

TEST(Record, FindsMembersById) {
  const Record record = record_with(3);
  ASSERT_NE(record.find(1), nullptr);
  EXPECT_EQ(record.find(1)->member_id, 1);
  EXPECT_EQ(record.find(3), nullptr);
}

}  // namespace
}  // namespace fenix_impl
