// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of members: a rank that learns of them from a peer knows what the peer knows, or notices that it does not.
#include "core/member/member_codec.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

using Bytes = std::vector<std::byte>;

// Places in what is sent: the head of a member, before the description of its type.
constexpr std::size_t kFlags = 4;
constexpr std::size_t kPlainBytes = 16;
constexpr std::size_t kTypeBytes = 20;
constexpr std::size_t kHead = 24;

MemberInfo plain(std::int32_t id, std::uint32_t bytes) {
  return {id, false, {0}, std::make_shared<const ElementType>(ElementType::plain(bytes))};
}

MemberInfo of_type(std::int32_t id, MPI_Datatype type) {
  return {id, true, {9}, std::make_shared<const ElementType>(type)};
}

// Every second column of a matrix, and a number: with holes.
std::shared_ptr<const ElementType> type_with_holes() {
  MPI_Datatype columns = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &columns);
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> places{0, 64};
  const std::array<MPI_Datatype, 2> types{columns, MPI_INT};
  MPI_Datatype both = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &both);
  MPI_Type_commit(&both);
  auto type = std::make_shared<const ElementType>(both);
  MPI_Type_free(&columns);
  MPI_Type_free(&both);
  return type;
}

std::vector<MemberInfo> members() {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  return {plain(1, 4),
          of_type(0, MPI_DOUBLE),
          {most, true, {~std::uint64_t{0}}, type_with_holes()},
          plain(least, std::numeric_limits<std::uint32_t>::max()),
          {5, false, {3}, plain(5, 8).type, true},
          of_type(-1, MPI_BYTE)};
}

bool same(const MemberInfo& a, const MemberInfo& b) {
  return a.id == b.id && a.resizeable == b.resizeable && a.created_after == b.created_after &&
         a.allocated == b.allocated && a.type->description() == b.type->description() &&
         a.type->hash() == b.type->hash() && a.element_bytes() == b.element_bytes() &&
         (a.type->handle() == MPI_DATATYPE_NULL) == (b.type->handle() == MPI_DATATYPE_NULL);
}

bool same(const std::vector<MemberInfo>& a, const std::vector<MemberInfo>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

// Null if they are refused, as they have to be: by an Error.
std::unique_ptr<std::vector<MemberInfo>> decoded(const Bytes& bytes) {
  try {
    return std::make_unique<std::vector<MemberInfo>>(decode_members(bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_INTERN) << error.what();
    return nullptr;
  }
}

void put(Bytes& bytes, std::size_t offset, std::uint32_t value) {
  std::memcpy(&bytes.at(offset), &value, sizeof value);
}

TEST(MemberCodec, NobodyIsNoBytes) {
  EXPECT_TRUE(encode_members({}).empty());
  EXPECT_TRUE(decode_members({}).empty());
}

TEST(MemberCodec, ReadsWhatWasWritten) {
  const auto all = members();
  EXPECT_TRUE(same(decode_members(encode_members(all)), all));
  for (const MemberInfo& each : all) {
    const auto read = decode_members(encode_members(std::span(&each, 1)));
    ASSERT_EQ(read.size(), 1U);
    EXPECT_TRUE(same(read[0], each)) << each.id;
  }
}

TEST(MemberCodec, ManyMembers) {
  std::vector<MemberInfo> many;
  for (int i = 0; i < 1000; ++i)
    many.push_back(i % 2 == 0 ? plain(i, static_cast<std::uint32_t>(i) + 1) : members()[2]);
  EXPECT_TRUE(same(decode_members(encode_members(many)), many));
}

TEST(MemberCodec, TypesThatWereReadPackTheSame) {
  const auto all = members();
  const auto read = decode_members(encode_members(all));
  std::array<double, 30> source{};
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = 1.5 * static_cast<double>(i);
  for (const std::size_t i : {1U, 2U}) {
    const std::uint32_t bytes = all[i].element_bytes();
    ASSERT_EQ(bytes, i == 1 ? 8U : 36U);
    Bytes expected(3 * bytes);
    Bytes packed(3 * bytes);
    all[i].type->pack(source.data(), 0, 3, expected.data());
    read[i].type->pack(source.data(), 0, 3, packed.data());
    EXPECT_EQ(packed, expected);
  }
}

TEST(MemberCodec, RefusesEveryTruncationWithinAMember) {
  const auto all = members();
  const Bytes bytes = encode_members(all);
  std::vector<std::size_t> ends{0};
  for (const MemberInfo& each : all) ends.push_back(ends.back() + encode_members(std::span(&each, 1)).size());
  ASSERT_EQ(ends.back(), bytes.size());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    // A copy of that very length: the sanitizer sees reads past its end.
    const auto read = decoded(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
    const bool whole = std::find(ends.begin(), ends.end(), length) != ends.end();
    EXPECT_EQ(read != nullptr, whole) << length;
  }
}

TEST(MemberCodec, NoFlippedBitIsOverlooked) {
  const auto all = members();
  Bytes bytes = encode_members(all);
  int refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << bit % 8);
    bytes[bit / 8] ^= mask;
    const auto read = decoded(bytes);
    refused += read ? 0 : 1;
    EXPECT_FALSE(read && same(*read, all)) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(decoded(bytes));
}

TEST(MemberCodec, RefusesFieldsThatItNeverWrites) {
  const MemberInfo one[] = {plain(1, 4)};
  struct Change {
    const char* what;
    std::size_t offset;
    std::uint32_t value;
  };
  const Change changes[] = {
      {"flags that there are not", kFlags, 4},
      {"no bytes", kPlainBytes, 0},
      {"a description and plain bytes", kTypeBytes, 1},
      {"a description that is too long", kTypeBytes, std::numeric_limits<std::uint32_t>::max()},
  };
  for (const Change& change : changes) {
    Bytes bytes = encode_members(one);
    ASSERT_EQ(bytes.size(), kHead);
    put(bytes, change.offset, change.value);
    EXPECT_FALSE(decoded(bytes)) << change.what;
  }
}

TEST(MemberCodec, RefusesTypesThatAreNone) {
  const MemberInfo one[] = {of_type(1, MPI_DOUBLE)};
  Bytes bytes = encode_members(one);
  for (const std::uint32_t length : {1U, 4U}) {
    Bytes shorter(bytes.begin(), bytes.begin() + kHead + length);
    put(shorter, kTypeBytes, length);
    EXPECT_FALSE(decoded(shorter)) << length;
  }
  std::fill(bytes.begin() + kHead, bytes.end(), std::byte{0xff});
  EXPECT_FALSE(decoded(bytes));
}

// Many zeros: so more of them are read.
Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes(random() % 100);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
  return bytes;
}

Bytes damaged(Bytes bytes, std::mt19937_64& random) {
  for (std::uint64_t change = 0; change <= random() % 3; ++change) {
    bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 2 == 0 ? random() : random() % 30);
  }
  return bytes;
}

// Whatever is read can be written and read again.
TEST(MemberCodec, SurvivesRandomBytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const Bytes good = encode_members(members());
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const Bytes bytes = round % 2 == 0 ? random_bytes(random) : damaged(good, random);
    const auto read = decoded(bytes);
    if (!read) continue;
    ++accepted;
    ASSERT_TRUE(same(decode_members(encode_members(*read)), *read)) << "round " << round;
  }
  EXPECT_GT(accepted, 100);
}

class Mpi : public testing::Environment {
 public:
  void SetUp() override {
    // A process that was not started by mpirun leaves its segment in /dev/shm behind: it needs none.
    setenv("OMPI_MCA_btl", "self", 1);
    MPI_Init(nullptr, nullptr);
  }
  void TearDown() override { MPI_Finalize(); }
};

}  // namespace
}  // namespace fenix_impl

// A process by itself: needs no mpirun.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new fenix_impl::Mpi);
  return RUN_ALL_TESTS();
}
