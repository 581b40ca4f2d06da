// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/part_writer.hpp"

#include <algorithm>
#include <optional>

#include "base/fault.hpp"
#include "base/simd/copy.hpp"
#include "base/simd/hash.hpp"
#include "core/member/snapshot_reader.hpp"
#include "core/steps/block_comparison.hpp"

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

// Hashes a block of a part, and compares it. Returns whether nothing else is to be done: the slot has it already, on this rank and
// where it is protected.
bool can_skip(BlockComparison& comparison, const Part& part, std::uint64_t block, std::span<const std::byte> bytes,
              std::uint64_t& hash) {
  const std::uint64_t begin = block * kHashBlock;
  const std::uint64_t end = begin + bytes.size();
  const std::uint32_t element = part.access.member().element_bytes();
  hash = hash_bytes(bytes);
  if (!comparison.is_unchanged(block, end, hash)) return false;
  if (part.stale.meets(begin / element, (end + element - 1) / element)) return false;
  comparison.note_skipped(begin, end);
  return true;
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

/// The bytes of a part, to be read.
class PartWriter::Source {
 public:
  Source(const Part& part, bool in_place) : part_(part), in_place_(in_place) {}

  /// Returns bytes that stay as they are until the next call, or until the end of the store if they are_lasting().
  [[nodiscard]] std::span<const std::byte> bytes(std::uint64_t begin, std::uint64_t bytes) {
    const Member& member = part_.access.member();
    if (!in_place_) return member.memory.own_slot(*member.working().number()).data.subspan(begin, bytes);
    return stored_bytes(*member.info().type, part_.buffer, member.working().spill(), begin, bytes, packed_);
  }
  [[nodiscard]] bool are_lasting() const {
    return !in_place_ || part_.buffer == nullptr || part_.access.member().info().type->contiguous();
  }

 private:
  const Part& part_;
  bool in_place_;
  std::vector<std::byte> packed_;
};

// In place, the table of the own slot belongs to the latest snapshot until the commit is decided.
std::span<std::uint64_t> PartWriter::table_of(const MemberAccess& access) const {
  const Member& member = access.member();
  if (!in_place_) return member.memory.own_slot(*member.working().number()).table;
  std::vector<std::uint64_t>& table = access.slot().table();
  table.resize(hash_blocks(member.memory.layout().own_bytes()));
  return table;
}

void PartWriter::copy_in_one_pass(Part& part) const {
  const Member& member = part.access.member();
  const std::uint32_t number = *member.working().number();
  const SlotView slot = member.memory.own_slot(number);
  const auto* source = static_cast<const std::byte*>(member.buffer());
  const std::uint64_t all = part.elements.count() * member.element_bytes();
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  const std::uint32_t bytes = member.element_bytes();
  std::optional<BlockComparison> comparison;
  if (part.base != nullptr) {
    comparison.emplace(
        part.access, part.base, part.blocks, !protection_.puts_are_copies(),
        [&](std::uint64_t begin, std::uint64_t length) { return std::span<const std::byte>(source + begin, length); });
  }
  const bool compares = comparison && comparison->is_on();
  std::uint64_t done = 0;
  part.mirrored = true;
  for_each_piece(part.elements, bytes, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    const std::span<const std::byte> from(source + begin, end - begin);
    const auto to = slot.data.subspan(begin, end - begin);
    const auto mirror = protection_.mirror(member, number, begin, end - begin);
    part.mirrored = part.mirrored && !mirror.empty();
    const bool has_hash = part.blocks.covers(block, block + 1);
    if (has_hash && compares && can_skip(*comparison, part, block, from, slot.table[block])) return;
    if (has_hash && !compares) {
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
  if (!compares) return;
  part.unchanged = comparison->unchanged();
  part.skipped = comparison->skipped();
}

void PartWriter::protect(Part& part, const Stop& stop) const {
  if (part.elements.empty() || (part.mirrored && part.hashed)) return;
  const Member& member = part.access.member();
  const std::uint32_t number = *member.working().number();
  const auto table = table_of(part.access);
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t all = part.elements.count() * bytes;
  Source source(part, in_place_);
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  std::optional<BlockComparison> comparison;
  if (part.base != nullptr && !part.hashed) {
    comparison.emplace(part.access, part.base, part.blocks, !protection_.puts_are_copies(),
                       [&](std::uint64_t begin, std::uint64_t length) { return source.bytes(begin, length); });
  }
  const bool compares = comparison && comparison->is_on();
  bool mirrored = part.mirrored;
  if (!mirrored) {
    const Interval first = part.elements.intervals().front();
    mirrored = !protection_.mirror(member, number, first.first * bytes, bytes).empty();
    // Unchanged elements have to be known first.
    if (!mirrored && !compares) put(part, source, stop);
  }
  std::uint64_t done = 0;
  for_each_piece(part.elements, bytes, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    if (stop) return;
    const auto mirror =
        mirrored && !part.mirrored ? protection_.mirror(member, number, begin, end - begin) : std::span<std::byte>{};
    const bool has_hash = !part.hashed && part.blocks.covers(block, block + 1);
    if (!has_hash && mirror.empty()) return;
    const auto data = source.bytes(begin, end - begin);
    if (has_hash && compares && can_skip(*comparison, part, block, data, table[block])) return;
    if (has_hash && !compares) {
      table[block] = mirror.empty() ? hash_bytes(data) : copy_and_hash(mirror, {}, data, stores);
    } else if (!mirror.empty()) {
      copy_bytes(mirror, data, stores);
    }
    if (!mirror.empty() && done <= all / 2 && done + (end - begin) > all / 2) fault_point("store.half");
    done += end - begin;
  });
  if (compares) {
    part.unchanged = comparison->unchanged();
    part.skipped = comparison->skipped();
    if (!mirrored) put(part, source, stop);
  }
}

void PartWriter::find_unchanged(const MemberAccess& access, const MemberVersion* base,
                                const IntervalSet& blocks) const {
  const Member& member = access.member();
  const auto table = table_of(access);
  const std::uint64_t all = member.working().stored().end() * member.element_bytes();
  SnapshotReader reader(member, in_place_);
  BlockComparison comparison(access, base, blocks, !protection_.puts_are_copies(),
                             [&](std::uint64_t begin, std::uint64_t bytes) { return reader.bytes(begin, bytes); });
  if (!comparison.is_on()) return;
  for (const Interval& each : blocks.intervals()) {
    for (std::uint64_t block = each.first; block < each.end; ++block) {
      const std::uint64_t begin = block * kHashBlock;
      const std::uint64_t end = std::min(begin + kHashBlock, all);
      table[block] = hash_bytes(reader.bytes(begin, end - begin));
      (void)comparison.is_unchanged(block, end, table[block]);
    }
  }
  access.slot().note_hashed(blocks);
  access.slot().note_unchanged(comparison.unchanged());
}

// Protects by the network, where there is no memory to write to.
void PartWriter::put(const Part& part, Source& source, const Stop& stop) const {
  const Member& member = part.access.member();
  const std::uint32_t bytes = member.element_bytes();
  std::uint64_t left = part.elements.count() * bytes / 2;
  const auto send = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end && !stop; begin = std::min(end, begin + kStoredPiece)) {
      const std::uint64_t length = std::min(end - begin, kStoredPiece);
      protection_.put(member, *member.working().number(), begin, source.bytes(begin, length));
      if (!source.are_lasting()) protection_.flush(member);
    }
  };
  // Elsewhere than in a slot, what lies between belongs to the application.
  const IntervalSet changed = part.elements - part.skipped;
  const IntervalSet elements = in_place_ ? changed : changed.without_gaps(kGap / bytes);
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
    if (in_place_ && !mirror.empty()) {
      copy_bytes(mirror, source.subspan(begin, length), stores);
    } else if (mirror.empty()) {
      if (!in_place_) copy_bytes(target.subspan(begin, length), source.subspan(begin, length), stores);
      protection_.put(member, to, begin, target.subspan(begin, length));
    } else {
      copy_twice(target.subspan(begin, length), mirror, source.subspan(begin, length), stores);
    }
  }
}

std::uint64_t PartWriter::complete_table(const MemberAccess& access, const MemberVersion* base,
                                         const MemberVersion& version) const {
  const Member& member = access.member();
  const auto table = table_of(access);
  SnapshotReader reader(member, in_place_);
  const std::uint64_t all = version.bytes();
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t blocks = hash_blocks(all);
  const std::uint64_t base_blocks = base != nullptr ? hash_blocks(base->bytes()) : 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (member.working().hashed().covers(block, block + 1)) continue;
    const std::uint64_t begin = block * kHashBlock;
    const std::uint64_t first = begin / bytes;
    const std::uint64_t end = (begin + kHashBlock + bytes - 1) / bytes;
    table[block] =
        block < base_blocks && !member.working().stored().meets(first, end)
            ? member.memory.own_slot(base->slot).table[block]
            : hash_of_part(reader.bytes(begin, std::min(kHashBlock, all - begin)), begin, version.found, bytes);
  }
  protection_.put_table(member, version.slot, table.first(blocks));
  return hash_of_table(table, all);
}

}  // namespace fenix_impl
