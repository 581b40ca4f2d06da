// SPDX-License-Identifier: BSD-3-Clause
// The slots of a member: where each may differ from the latest snapshot, and the last commit that it was for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/interval_set.hpp"
#include "base/types.hpp"

namespace fenix_impl {

class SlotHistory {
 public:
  /// Returns the elements in which a slot may differ from the latest snapshot.
  [[nodiscard]] const IntervalSet& stale(std::uint32_t slot) const { return stale_[slot]; }
  /// Returns the last commit that a slot was for, if stale() goes back to it; else none.
  [[nodiscard]] Epoch epoch_of(std::uint32_t slot) const { return epochs_[slot]; }
  /// Notes that there will be so many slots, or are already.
  void add_slots(std::uint32_t slots);
  /// Notes that a slot may differ from any snapshot, for all that is known.
  void forget_slots();
  /// Forgets that there are slots.
  void drop_slots();
  /// Notes that elements of a slot are, or are about to be, written.
  void note_written(std::uint32_t slot, const IntervalSet& elements) { stale_[slot] = stale_[slot] | elements; }
  /// Notes that any element of a slot may be written.
  void note_overwritten(std::uint32_t slot) { stale_[slot] = IntervalSet::everything(); }
  /// Puts other elements in the place of stale(). Takes no memory.
  void swap_stale(std::uint32_t slot, IntervalSet& stale) noexcept { std::swap(stale_[slot], stale); }
  /// Takes the memory for a commit that fills a slot. changed: elements that differ from the snapshot before.
  void prepare_commit(const IntervalSet& changed);
  /// Notes a commit that fills the slot. Takes no memory.
  void commit(std::uint32_t slot, Epoch epoch) noexcept;

 private:
  // By slot.
  std::vector<IntervalSet> stale_;
  std::vector<IntervalSet> stale_next_;  ///< after the commit that is being made
  std::vector<Epoch> epochs_;
};

}  // namespace fenix_impl
