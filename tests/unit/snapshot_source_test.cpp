// SPDX-License-Identifier: BSD-3-Clause
// A version of a member on its way to the store: what is given is what was committed, or nothing is.
#include "core/parts/snapshot_source.hpp"

#include <gtest/gtest.h>

#include "core/member/slot_hashes.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::uint32_t kElementBytes = 24;

/// A slot with a version: some elements in the middle have no value.
struct CommittedSlot {
  explicit CommittedSlot(std::uint64_t elements) : data(elements * kElementBytes) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 >> 3U);
    version.member_id = 7;
    version.element_bytes = kElementBytes;
    version.size = elements;
    version.found.append({0, elements / 2});
    version.found.append({elements / 2 + 10, elements});
    table.resize(hash_blocks(data.size()));
    make_table(data, version.found, kElementBytes, table);
    version.hash = hash_of_table(table, data.size());
  }

  [[nodiscard]] MemberSource source(bool hashed = true) const { return source_of(version, data, table, hashed); }

  std::vector<std::byte> data;
  std::vector<std::uint64_t> table;
  MemberVersion version;
};

/// Returns all bytes of a source, or none if it gives up.
std::vector<std::byte> read_all(const MemberSource& source) {
  std::vector<std::byte> all(source.bytes);
  for (std::uint64_t offset = 0; offset < all.size(); offset += Extent::kPiece) {
    const auto bytes = std::min<std::uint64_t>(Extent::kPiece, all.size() - offset);
    if (!source.read(offset, std::span(all).subspan(offset, bytes))) return {};
  }
  return all;
}

TEST(SnapshotSource, GivesWhatWasCommitted) {
  for (const std::uint64_t elements : {100, 5000, 43690, 43691, 100000}) {
    const CommittedSlot slot(elements);
    EXPECT_EQ(slot.source().member, 7);
    EXPECT_EQ(read_all(slot.source()), slot.data) << elements;
  }
}

TEST(SnapshotSource, NoticesEachChange) {
  CommittedSlot slot(100000);
  const MemberSource source = slot.source();
  for (const std::size_t place : {std::size_t{0}, slot.data.size() / 3, slot.data.size() - 1}) {
    slot.data[place] ^= std::byte{1};
    EXPECT_TRUE(read_all(source).empty()) << place;
    slot.data[place] ^= std::byte{1};
  }
  EXPECT_EQ(read_all(source), slot.data);
  // An element without a value may have any bytes.
  slot.data[(100000 / 2 + 1) * kElementBytes] ^= std::byte{1};
  EXPECT_EQ(read_all(source), slot.data);
}

TEST(SnapshotSource, NoticesAWrongTable) {
  CommittedSlot slot(100000);
  slot.table[1] ^= 1U;
  EXPECT_TRUE(read_all(slot.source()).empty());
  slot.table[1] ^= 1U;
  const MemberSource source = slot.source();
  // The slot has been used anew: its table belongs to other data, and counts no more.
  slot.data[200000] ^= std::byte{1};
  make_table(slot.data, slot.version.found, kElementBytes, slot.table);
  EXPECT_TRUE(read_all(source).empty());
  // Data and table fit together, and are not those of the record.
  EXPECT_TRUE(read_all(slot.source()).empty());
}

TEST(SnapshotSource, WithoutHashesGivesWhatIsThere) {
  CommittedSlot slot(5000);
  const MemberSource source = slot.source(/*hashed=*/false);
  slot.data[3] ^= std::byte{1};
  EXPECT_EQ(read_all(source), slot.data);
}

TEST(SnapshotSource, OfNoElementsGivesNothing) {
  CommittedSlot slot(100);
  slot.version.found = {};
  slot.version.hash = hash_of_table(slot.table, 0);
  EXPECT_EQ(slot.source().bytes, 0U);
}

}  // namespace
}  // namespace fenix_test
