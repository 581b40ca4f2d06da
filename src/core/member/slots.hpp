// SPDX-License-Identifier: BSD-3-Clause
// The layout of a member's region: first the own slots, then the redundancy held for others, a copy or parity. A slot
// has the member's elements, packed, and behind them the table of their hashes. Where commits are in place, there is one own slot:
// all slots of the redundancy belong to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace fenix_impl {

/// A slot of a member: the member's id, and the number of the slot.
using MemberSlot = std::pair<std::int32_t, std::uint32_t>;

class SlotLayout {
 public:
  SlotLayout() = default;
  /// Lays out slots, those of snapshots that are kept and one more. own_bytes, held_bytes: bytes of
  /// the elements in an own and in a held slot. own_slots: own slots that have memory, all or one. Throws
  /// Error(FENIX_ERROR_NO_MEMORY) if the sizes are beyond 64 bits, and Error(FENIX_ERROR_INTERN) if there are no slots, or another
  /// number of own ones: peers tell their numbers.
  SlotLayout(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes, std::uint32_t own_slots);
  SlotLayout(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes)
      : SlotLayout(slots, own_bytes, held_bytes, slots) {}

  bool operator==(const SlotLayout&) const = default;

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] std::uint32_t own_slots() const { return own_slots_; }
  [[nodiscard]] std::uint64_t own_bytes() const { return own_bytes_; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::size_t own_offset(std::uint32_t slot) const;
  [[nodiscard]] std::size_t held_offset(std::uint32_t slot) const;
  /// Returns the offset of the table from the start of its slot.
  [[nodiscard]] std::size_t own_table() const;
  [[nodiscard]] std::size_t held_table() const;
  /// Returns the end of the last slot, from the start of the region.
  [[nodiscard]] std::size_t end() const { return held_offset(slots_); }
  /// Whether everything that fits the other layout fits this one.
  [[nodiscard]] bool has_room_for(const SlotLayout& other) const;

 private:
  std::uint32_t slots_ = 0;
  std::uint32_t own_slots_ = 0;
  std::uint64_t own_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace fenix_impl
