// SPDX-License-Identifier: BSD-3-Clause
#include "core/parts/part_writer.hpp"

#include <algorithm>

#include "base/copy.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"

namespace fenix_impl {
namespace {

// A stop is noticed between two pieces.
constexpr std::uint64_t kStoredPiece = std::uint64_t{4} << 20;

// Gaps of so many bytes are cheaper to send than to leave out. Their contents are the same in both slots, or belong to
// no element.
constexpr std::uint64_t kGap = 256;

/// Calls piece(block, begin, end) for the bytes of the elements, block by block of the table of hashes.
template <class Piece>
void for_each_piece(const IntervalSet& elements, std::uint32_t element_bytes, Piece&& piece) {
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t end = each.end * element_bytes;
    for (std::uint64_t begin = each.first * element_bytes; begin < end;) {
      const std::uint64_t block = begin / kHashBlock;
      const std::uint64_t stop = std::min(end, (block + 1) * kHashBlock);
      piece(block, begin, stop);
      begin = stop;
    }
  }
}

}  // namespace

IntervalSet blocks_within(const IntervalSet& elements, std::uint64_t all, std::uint32_t element_bytes) {
  IntervalSet blocks;
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t end = each.end * element_bytes;
    blocks.append({hash_blocks(each.first * element_bytes), each.end == all ? hash_blocks(end) : end / kHashBlock});
  }
  return blocks;
}

void PartWriter::copy_in_one_pass(Part& part) const {
  const Member& member = part.access.member();
  const std::uint32_t number = *member.working().number();
  const SlotView slot = member.memory.own_slot(number);
  const auto* source = static_cast<const std::byte*>(member.buffer());
  const std::uint64_t all = part.elements.count() * member.element_bytes();
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  std::uint64_t done = 0;
  part.mirrored = true;
  for_each_piece(part.elements, member.element_bytes(),
                 [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
                   const std::span<const std::byte> from(source + begin, end - begin);
                   const auto to = slot.data.subspan(begin, end - begin);
                   const auto mirror = protection_.mirror(member, number, begin, end - begin);
                   part.mirrored = part.mirrored && !mirror.empty();
                   if (part.blocks.covers(block, block + 1)) {
                     slot.table[block] = copy_and_hash(to, mirror, from, stores);
                   } else if (mirror.empty()) {
                     copy_bytes(to, from, stores);
                   } else {
                     copy_twice(to, mirror, from, stores);
                   }
                   if (part.mirrored && done <= all / 2 && done + from.size() > all / 2) fault_point("store.half");
                   done += from.size();
                 });
  part.hashed = true;
}

void PartWriter::protect(const Part& part, const Stop& stop) const {
  if (part.elements.empty() || (part.mirrored && part.hashed)) return;
  const Member& member = part.access.member();
  const std::uint32_t number = *member.working().number();
  const SlotView slot = member.memory.own_slot(number);
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t all = part.elements.count() * bytes;
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  bool mirrored = part.mirrored;
  if (!mirrored) {
    const Interval first = part.elements.intervals().front();
    mirrored = !protection_.mirror(member, number, first.first * bytes, bytes).empty();
    if (!mirrored) put(part, stop);
  }
  std::uint64_t done = 0;
  for_each_piece(part.elements, bytes, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    if (stop) return;
    const auto data = slot.data.subspan(begin, end - begin);
    const auto mirror =
        mirrored && !part.mirrored ? protection_.mirror(member, number, begin, end - begin) : std::span<std::byte>{};
    const bool to_hash = !part.hashed && part.blocks.covers(block, block + 1);
    if (to_hash && mirror.empty()) {
      slot.table[block] = hash_bytes(slot.data.subspan(begin, end - begin));
    } else if (to_hash) {
      slot.table[block] = copy_and_hash(mirror, {}, data, stores);
    } else if (!mirror.empty()) {
      copy_bytes(mirror, data, stores);
    }
    if (!mirror.empty() && done <= all / 2 && done + data.size() > all / 2) fault_point("store.half");
    done += data.size();
  });
}

// Protects by the network, where there is no memory to write to.
void PartWriter::put(const Part& part, const Stop& stop) const {
  const Member& member = part.access.member();
  const std::uint32_t bytes = member.element_bytes();
  std::uint64_t left = part.elements.count() * bytes / 2;
  const auto send = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end && !stop; begin = std::min(end, begin + kStoredPiece)) {
      protection_.put(member, *member.working().number(), begin, std::min(end - begin, kStoredPiece));
    }
  };
  const IntervalSet elements = part.elements.without_gaps(kGap / bytes);
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t begin = each.first * bytes;
    const std::uint64_t end = each.end * bytes;
    const std::uint64_t middle = begin + std::min(end - begin, left);
    send(begin, middle);
    if (left > 0 && middle - begin == left) fault_point("store.half");
    left -= middle - begin;
    send(middle, end);
  }
}

void PartWriter::carry_over(const Member& member, std::uint32_t from, std::uint32_t to,
                            const IntervalSet& elements) const {
  const auto source = member.memory.own_slot(from).data;
  const auto target = member.memory.own_slot(to).data;
  const std::uint32_t bytes = member.element_bytes();
  for (const Interval& each : elements.intervals()) {
    const std::size_t begin = each.first * bytes;
    const std::size_t length = each.count() * bytes;
    const Stores stores = worth_streaming(length) ? Stores::streaming : Stores::cached;
    const auto mirror = protection_.mirror(member, to, begin, length);
    if (mirror.empty()) {
      copy_bytes(target.subspan(begin, length), source.subspan(begin, length), stores);
      protection_.put(member, to, begin, length);
    } else {
      copy_twice(target.subspan(begin, length), mirror, source.subspan(begin, length), stores);
    }
  }
}

void PartWriter::complete_table(const Member& member, const MemberVersion* base, const MemberVersion& version,
                                const IntervalSet& changed) const {
  const SlotView slot = member.memory.own_slot(version.slot);
  const auto data = slot.data.first(version.bytes());
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t blocks = hash_blocks(data.size());
  const std::uint64_t base_blocks = base != nullptr ? hash_blocks(base->bytes()) : 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (member.working().hashed().covers(block, block + 1)) continue;
    const std::uint64_t first = block * kHashBlock / bytes;
    const std::uint64_t end = ((block + 1) * kHashBlock + bytes - 1) / bytes;
    slot.table[block] = block < base_blocks && !changed.meets(first, end)
                            ? member.memory.own_slot(base->slot).table[block]
                            : hash_of_block(data, block, version.found, bytes);
  }
  protection_.put_table(member, version.slot, blocks);
}

}  // namespace fenix_impl
