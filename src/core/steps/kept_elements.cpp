// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/kept_elements.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/simd/slot_hashes.hpp"
#include "core/steps/part_writer.hpp"

namespace fenix_impl {
namespace {

/// The elements that have bytes in a block.
Interval elements_in(std::uint64_t block, std::uint32_t element_bytes) {
  const std::uint64_t begin = block * kHashBlock;
  return {begin / element_bytes, (begin + kHashBlock + element_bytes - 1) / element_bytes};
}

bool has_right_table(const Member& member, const MemberVersion& version) {
  return hash_of_table(member.memory.own_slot(version.slot).table, version.bytes()) == version.hash;
}

bool is_sound(std::span<const std::byte> bytes, const Member& member, const MemberVersion& base, std::uint64_t block) {
  const std::uint64_t hash = hash_of_part(bytes, block * kHashBlock, base.found, base.element_bytes);
  return hash == member.memory.own_slot(base.slot).table[block];
}

std::span<const std::byte> latest_bytes(const Member& member, const MemberVersion& base, std::uint64_t block) {
  const std::uint64_t begin = block * kHashBlock;
  return member.memory.own_slot(base.slot).data.subspan(begin, std::min(kHashBlock, base.bytes() - begin));
}

void mend(const OperationContext& context, Member& member, const MemberVersion& base) {
  log().warn(
      "group {} member {}: data of the latest snapshot is damaged on this rank, making it anew before the commit",
      context.parameters.id, member.id());
  if (context.protection().mend_own(member, base, context.log.last())) return;
  throw Error(FENIX_ERROR_NODATA_FOUND,
              name_of(member) +
                  " is damaged beyond repair, and the commit would keep a part of it: " + "store all of its elements");
}

}  // namespace

void KeptElements::check(const OperationContext& context, Member& member, const MemberVersion& base,
                         const IntervalSet& carried) {
  const IntervalSet& stored = member.working().stored();
  if (stored.covers(0, base.found.end())) return;
  const IntervalSet kept = base.found - stored;
  const IntervalSet touched = stored | carried;
  if (!has_right_table(member, base)) mend(context, member, base);
  const bool in_place = context.parameters.commits_in_place();
  for (std::uint64_t block = 0; block < hash_blocks(base.bytes()); ++block) {
    const Interval here = elements_in(block, base.element_bytes);
    if (!touched.meets(here.first, here.end) || !kept.meets(here.first, here.end)) continue;
    if (is_sound(as_before(member, base, kept, block, in_place), member, base, block)) continue;
    if (!is_sound(latest_bytes(member, base, block), member, base, block)) mend(context, member, base);
    // Otherwise the damage is in the working slot only. It may have reached the redundancy already.
    PartWriter(context.protection(), in_place)
        .carry_over(member, base.slot, *member.working().number(), kept.within(here.first, here.end));
  }
}

// Returns a block with the kept elements as the working slot has them, and the others as in the latest snapshot.
std::span<const std::byte> KeptElements::as_before(const Member& member, const MemberVersion& base,
                                                   const IntervalSet& kept, std::uint64_t block, bool in_place) {
  const auto latest = latest_bytes(member, base, block);
  if (in_place) return latest;
  const std::uint64_t begin = block * kHashBlock;
  const auto working = member.memory.own_slot(*member.working().number()).data.subspan(begin, latest.size());
  const Interval here = elements_in(block, base.element_bytes);
  const IntervalSet there = kept.within(here.first, here.end);
  if (there == base.found.within(here.first, here.end)) return working;
  joined_.assign(latest.begin(), latest.end());
  for (const Interval& each : there.intervals()) {
    const std::uint64_t from = std::max(each.first * base.element_bytes, begin) - begin;
    const std::uint64_t to = std::min(each.end * base.element_bytes, begin + latest.size()) - begin;
    std::copy_n(working.begin() + static_cast<std::ptrdiff_t>(from), to - from,
                joined_.begin() + static_cast<std::ptrdiff_t>(from));
  }
  return joined_;
}

}  // namespace fenix_impl
