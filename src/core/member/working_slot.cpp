// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/working_slot.hpp"

#include <algorithm>
#include <utility>

#include "base/simd/slot_hashes.hpp"

namespace fenix_impl {
namespace {

IntervalSet blocks_of(const IntervalSet& elements, std::uint32_t element_bytes) {
  IntervalSet blocks;
  for (const Interval& each : elements.intervals()) {
    blocks.append({each.first * element_bytes / kHashBlock, hash_blocks(each.end * element_bytes)});
  }
  return blocks;
}

}  // namespace

void WorkingSlot::note_staged(const IntervalSet& elements, std::uint32_t element_bytes) {
  IntervalSet staged = staged_ | elements;
  IntervalSet encoded = encoded_ - elements;
  IntervalSet unchanged = unchanged_.empty() ? IntervalSet{} : unchanged_ - elements;
  IntervalSet hashed = hashed_ - blocks_of(elements, element_bytes);
  if (number_) history_.note_written(*number_, elements);
  // All or nothing: none of this takes memory.
  staged_ = std::move(staged);
  encoded_ = std::move(encoded);
  unchanged_ = std::move(unchanged);
  hashed_ = std::move(hashed);
}

void WorkingSlot::note_protected(const IntervalSet& elements, std::uint32_t element_bytes) {
  if (!hashed_.empty()) hashed_ = hashed_ - blocks_of(elements, element_bytes);
  if (number_) history_.note_written(*number_, elements);
}

void WorkingSlot::lend() {
  is_lent_ = true;
  unchanged_ = {};
  hashed_ = {};
  encoded_ = {};
  note_overwritten();
}

void WorkingSlot::note_overwritten() {
  if (number_) history_.note_overwritten(*number_);
}

void WorkingSlot::reset() {
  number_.reset();
  is_stored_ = is_lent_ = false;
  stored_ = {};
  unchanged_ = {};
  staged_ = {};
  encoded_ = {};
  hashed_ = {};
  size_ = 0;
  sources_.clear();
  Spill().swap(spills_.staged);
  spills_.draft.reset();
}

WorkingSlot::Stored WorkingSlot::once_stored(const IntervalSet& elements, const IntervalSet& blocks) const {
  return {true,
          stored_ | elements,
          staged_ - elements,
          hashed_ | blocks,
          std::max(size_, elements.end()),
          {},
          unchanged_.empty() ? IntervalSet{} : unchanged_ - elements,
          {}};
}

WorkingSlot::Stored WorkingSlot::once_stored_from(const void* buffer, const IntervalSet& elements,
                                                  const IntervalSet& blocks) const {
  Stored stored = once_stored(elements, blocks);
  for (const StoredFrom& before : sources_) {
    IntervalSet left = before.elements - elements;
    if (!left.empty()) stored.sources.push_back({before.buffer, std::move(left)});
  }
  if (!elements.empty()) stored.sources.push_back({buffer, elements});
  return stored;
}

void WorkingSlot::swap(Stored& stored) noexcept {
  std::swap(is_stored_, stored.is_stored);
  std::swap(stored_, stored.stored);
  std::swap(staged_, stored.staged);
  std::swap(hashed_, stored.hashed);
  std::swap(size_, stored.size);
  std::swap(sources_, stored.sources);
  std::swap(unchanged_, stored.unchanged);
  if (number_ && stored.stale) history_.swap_stale(*number_, *stored.stale);
}

void WorkingSlot::prepare_commit() { history_.prepare_commit(unchanged_.empty() ? stored_ : stored_ - unchanged_); }

void WorkingSlot::commit(Epoch epoch, bool fills) noexcept {
  if (fills) history_.commit(*number_, epoch);
  reset();
}

}  // namespace fenix_impl
