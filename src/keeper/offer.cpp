// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/offer.hpp"

#include <limits>
#include <utility>

#include "base/simd/slot_hashes.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kIntervalBytes = 16;
constexpr std::size_t kHashBytes = 8;
constexpr std::size_t kLeastMemberBytes = 24;

bool decode_found(FieldReader& fields, IntervalSet& found) {
  std::uint64_t end = 0;
  for (std::size_t left = fields.count(kIntervalBytes); left > 0; --left) {
    const auto first = fields.number<std::uint64_t>();
    const auto past = fields.number<std::uint64_t>();
    const bool is_next = first < past && (found.empty() || first > end);
    if (!is_next) return false;
    end = past;
    found.append({first, past});
  }
  return true;
}

bool decode_member(FieldReader& fields, MemberOffer& member) {
  member.member = fields.number<std::int32_t>();
  member.element_bytes = fields.number<std::uint32_t>();
  member.offset = fields.number<std::uint64_t>();
  if (member.element_bytes == 0 || !decode_found(fields, member.found)) return false;
  constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  if (member.found.end() > kMostBytes / member.element_bytes) return false;
  member.hashes.resize(fields.count(kHashBytes));
  for (std::uint64_t& hash : member.hashes) hash = fields.number<std::uint64_t>();
  return member.hashes.size() == hash_blocks(member.bytes());
}

}  // namespace

std::vector<std::byte> encode(const RankOffer& offer) {
  FieldWriter fields;
  fields.number(offer.rank);
  fields.bytes(offer.record);
  fields.number(static_cast<std::uint32_t>(offer.members.size()));
  for (const MemberOffer& member : offer.members) {
    fields.number(member.member);
    fields.number(member.element_bytes);
    fields.number(member.offset);
    const auto& intervals = member.found.intervals();
    fields.number(static_cast<std::uint32_t>(intervals.size()));
    for (const Interval& each : intervals) {
      fields.number(each.first);
      fields.number(each.end);
    }
    fields.number(static_cast<std::uint32_t>(member.hashes.size()));
    for (const std::uint64_t hash : member.hashes) fields.number(hash);
  }
  return fields.take();
}

std::optional<RankOffer> decode_offer(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  RankOffer offer;
  offer.rank = fields.number<std::int32_t>();
  const auto record = fields.bytes();
  offer.record.assign(record.begin(), record.end());
  offer.members.resize(fields.count(kLeastMemberBytes));
  for (MemberOffer& member : offer.members) {
    if (!decode_member(fields, member)) return std::nullopt;
  }
  if (!fields.is_at_end()) return std::nullopt;
  return offer;
}

}  // namespace fenix_impl
