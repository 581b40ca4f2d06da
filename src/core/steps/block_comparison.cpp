// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/block_comparison.hpp"

#include <algorithm>

#include "base/simd/hash.hpp"

namespace fenix_impl {

BlockComparison::BlockComparison(const MemberAccess& access, const MemberVersion* base, const IntervalSet& blocks,
                                 bool sends, const Read& read)
    : access_(access), base_(base), sends_(sends) {
  if (base == nullptr || base->found.empty()) return;
  const Similarity::Look look = access.slot().similarity().look_for_unchanged(blocks.count());
  is_on_ =
      look == Similarity::Look::everywhere || (look == Similarity::Look::at_a_sample && sample_is_same(blocks, read));
}

BlockComparison::~BlockComparison() {
  if (compared_ > 0) access_.slot().similarity().note(is_worth_it(same_, compared_));
}

// In memory, a block that is hashed first and copied then takes longer than one that is hashed while it is copied: by measurement,
// some 60 % have to be unchanged. A network takes longer than both.
bool BlockComparison::is_worth_it(std::uint64_t same, std::uint64_t blocks) const {
  return same * 100 >= blocks * (sends_ ? 5 : 60) && same > 0;
}

// A sample is one block of so many, others in each store: to look at it takes little time beside the store.
bool BlockComparison::sample_is_same(const IntervalSet& blocks, const Read& read) const {
  constexpr std::uint64_t kOneOf = 128;
  std::uint64_t next = base_->stored_in.value * 37 % std::min(kOneOf, blocks.count());
  std::uint64_t before = 0;
  std::uint64_t looked_at = 0;
  std::uint64_t same = 0;
  for (const Interval& each : blocks.intervals()) {
    for (; next < before + each.count(); next += kOneOf) {
      const std::uint64_t begin = (each.first + next - before) * kHashBlock;
      const std::uint64_t end = std::min(begin + kHashBlock, base_->bytes());
      ++looked_at;
      if (begin < end && is_same(begin / kHashBlock, end, hash_bytes(read(begin, end - begin)))) ++same;
    }
    before += each.count();
  }
  return is_worth_it(same, looked_at);
}

// The hash of the latest snapshot is about the same bytes only if all of them have a value there.
bool BlockComparison::is_same(std::uint64_t block, std::uint64_t end, std::uint64_t hash) const {
  const std::uint64_t begin = block * kHashBlock;
  const std::uint32_t bytes = base_->element_bytes;
  if (end > base_->bytes() || end != std::min(begin + kHashBlock, base_->bytes())) return false;
  if (!base_->found.covers(begin / bytes, (end + bytes - 1) / bytes)) return false;
  return access_.member().memory.own_slot(base_->slot).table[block] == hash;
}

bool BlockComparison::is_unchanged(std::uint64_t block, std::uint64_t end, std::uint64_t hash) {
  ++compared_;
  if (!is_same(block, end, hash)) return false;
  ++same_;
  unchanged_.append({block * kHashBlock, end});
  return true;
}

IntervalSet BlockComparison::elements_in(const IntervalSet& bytes) const {
  IntervalSet elements;
  const std::uint32_t size = access_.member().element_bytes();
  for (const Interval& each : bytes.intervals()) {
    const std::uint64_t first = (each.first + size - 1) / size;
    const std::uint64_t end = each.end / size;
    if (first < end) elements.append({first, end});
  }
  return elements;
}

}  // namespace fenix_impl
