// SPDX-License-Identifier: BSD-3-Clause
// Where the slots of a member lie in its region: first the own ones, then those held for the rank that this one protects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fenix_impl {

class SlotLayout {
 public:
  SlotLayout() = default;
  /// slots: snapshots kept, plus one under construction; bytes of one version of the own and of the held data.
  /// Throws Error(FENIX_ERROR_NO_MEMORY) if the sizes are beyond 64 bits.
  SlotLayout(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes);

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] std::size_t own_offset(std::uint32_t slot) const { return kStart + slot * own_stride_; }
  [[nodiscard]] std::size_t held_offset(std::uint32_t slot) const {
    return kStart + slots_ * own_stride_ + slot * held_stride_;
  }
  /// End of the last slot, from the start of the region.
  [[nodiscard]] std::size_t end() const { return held_offset(slots_); }

 private:
  static constexpr std::size_t kStart = 4096;

  std::uint32_t slots_ = 0;
  std::size_t own_stride_ = 0;
  std::size_t held_stride_ = 0;
};

/// The lowest slot below slots that is not among used.
[[nodiscard]] std::optional<std::uint32_t> free_slot(std::uint32_t slots, std::span<const std::uint32_t> used);

}  // namespace fenix_impl
