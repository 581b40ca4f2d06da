// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/slot_history.hpp"

#include <algorithm>

namespace fenix_impl {

void SlotHistory::add_slots(std::uint32_t slots) {
  stale_.resize(slots, IntervalSet::everything());
  stale_next_.resize(slots);
  epochs_.resize(slots);
}

void SlotHistory::forget_slots() {
  std::fill(stale_.begin(), stale_.end(), IntervalSet::everything());
  std::fill(epochs_.begin(), epochs_.end(), Epoch{});
}

void SlotHistory::drop_slots() {
  stale_.clear();
  stale_next_.clear();
  epochs_.clear();
}

void SlotHistory::prepare_commit(const IntervalSet& changed) {
  for (std::size_t slot = 0; slot < stale_.size(); ++slot) stale_next_[slot] = stale_[slot] | changed;
}

void SlotHistory::commit(std::uint32_t slot, Epoch epoch) noexcept {
  std::swap(stale_, stale_next_);
  stale_[slot] = {};
  epochs_[slot] = epoch;
}

}  // namespace fenix_impl
