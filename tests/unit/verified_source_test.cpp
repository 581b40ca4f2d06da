// SPDX-License-Identifier: BSD-3-Clause
// A version of a member on its way to the store: what is given is what was committed, or nothing is.
#include "keeper/verified_source.hpp"

#include <gtest/gtest.h>

#include "base/simd/slot_hashes.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::uint32_t kElementBytes = 24;

/// A slot with a version: some elements in the middle have no value.
struct OfferedSlot {
  explicit OfferedSlot(std::uint64_t elements) : data(elements * kElementBytes) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 >> 3U);
    offer.member = 7;
    offer.element_bytes = kElementBytes;
    offer.found.append({0, elements / 2});
    offer.found.append({elements / 2 + 10, elements});
    offer.hashes.resize(hash_blocks(data.size()));
    make_table(data, offer.found, kElementBytes, offer.hashes);
  }

  [[nodiscard]] MemberSource source() const { return verified_source(offer, data); }

  std::vector<std::byte> data;
  MemberOffer offer;
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

TEST(VerifiedSource, GivesWhatWasOffered) {
  for (const std::uint64_t elements : {100, 5000, 43690, 43691, 100000}) {
    const OfferedSlot slot(elements);
    EXPECT_EQ(slot.source().member, 7);
    EXPECT_EQ(read_all(slot.source()), slot.data) << elements;
  }
}

TEST(VerifiedSource, NoticesEachChange) {
  OfferedSlot slot(100000);
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

TEST(VerifiedSource, NoticesASlotThatIsUsedAnew) {
  OfferedSlot slot(100000);
  const MemberSource source = slot.source();
  // The hashes are those of the offer, whatever stands in the slot's table now.
  slot.data[200000] ^= std::byte{1};
  make_table(slot.data, slot.offer.found, kElementBytes, slot.offer.hashes);
  EXPECT_TRUE(read_all(source).empty());
  EXPECT_EQ(read_all(slot.source()), slot.data);
}

TEST(VerifiedSource, OfNoElementsGivesNothing) {
  OfferedSlot slot(100);
  slot.offer.found = {};
  slot.offer.hashes = {};
  EXPECT_EQ(slot.source().bytes, 0U);
}

}  // namespace
}  // namespace fenix_test
