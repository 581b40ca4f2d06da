// SPDX-License-Identifier: BSD-3-Clause
// The slots that belong together: those of a member in one snapshot, on each rank of a redundancy set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "parity/codec.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// The position of a rank's elements and parity, from the start of its region.
struct SetSlot {
  static constexpr int kMissing = -1;

  int rank = kMissing;  ///< in the team
  std::size_t elements = 0;
  std::uint64_t element_bytes = 0;  ///< of all elements
  std::size_t parity = 0;
};

class SetSlots {
 public:
  /// slots: by index in the redundancy set.
  SetSlots(RemoteRegions& remote, const Stripes& stripes, std::vector<SetSlot> slots);

  /// Returns for each index whether the slot is there.
  [[nodiscard]] std::vector<bool> available() const;
  [[nodiscard]] const Stripes& stripes() const { return stripes_; }
  [[nodiscard]] const SetSlot& at(int index) const { return slots_[static_cast<std::size_t>(index)]; }
  /// Says where the elements of all slots are from now on: the first one may be before the start of the region.
  void move_elements(std::size_t elements) {
    for (SetSlot& slot : slots_) slot.elements = elements;
  }
  /// Computes bytes of the elements or of the parity of an index, from a cell on, from the other slots.
  void compute(Codec& codec, Stripes::Cell from, std::span<std::byte> target, Stores stores);
  /// Calls attempt with a codec for all slots that are there, and then for all except one of them: one may be damaged,
  /// and it is not known which. Returns true as soon as attempt does; false if it never does, or if there are too few
  /// slots.
  [[nodiscard]] bool try_ways(const std::function<bool(Codec&)>& attempt) const;

 private:
  [[nodiscard]] std::size_t offset_of(const Stripes::Cell& cell) const;
  [[nodiscard]] std::size_t there(const Stripes::Cell& cell, std::size_t bytes) const;
  const std::byte* read(const Stripes::Cell& cell, std::size_t bytes, std::size_t source);
  /// Fetches all that is needed to compute so many bytes, one piece behind the other.
  void fetch(Codec& codec, const Stripes::Cell& from, std::size_t bytes);

  RemoteRegions& remote_;
  Stripes stripes_;
  std::vector<SetSlot> slots_;
  bool all_direct_ = true;                                    // the slots can be read where they are
  std::vector<std::byte> pieces_;                             // fetched bytes; in place: a unit for each source
  std::vector<std::pair<Stripes::Cell, std::size_t>> cells_;  // of pieces_
};

}  // namespace fenix_impl
