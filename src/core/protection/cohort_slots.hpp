// SPDX-License-Identifier: BSD-3-Clause
// The slots of a cohort that belong together: those that a member has in one snapshot, on each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parity/codec.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// Where a rank's elements and parity are, from the start of its region.
struct CohortSlot {
  static constexpr int kMissing = -1;

  int rank = kMissing;  ///< in the team
  std::size_t elements = 0;
  std::uint64_t element_bytes = 0;  ///< of all elements
  std::size_t parity = 0;
};

class CohortSlots {
 public:
  /// slots: by index in the cohort.
  CohortSlots(RemoteRegions& remote, const Stripes& stripes, std::vector<CohortSlot> slots);

  /// By index: whether the slot is there.
  [[nodiscard]] std::vector<bool> available() const;
  [[nodiscard]] const Stripes& stripes() const { return stripes_; }
  [[nodiscard]] const CohortSlot& at(int index) const { return slots_[static_cast<std::size_t>(index)]; }
  /// Computes bytes of the elements or the parity of an index from the other slots.
  void compute(Codec& codec, int index, bool is_parity, std::uint64_t offset, std::span<std::byte> target,
               Stores stores);
  /// Calls attempt with a codec for all slots that are there, and then for all but one of them: one may be damaged, and nobody
  /// knows which. True as soon as attempt is, false if it never is or there are too few slots.
  [[nodiscard]] bool try_ways(const std::function<bool(Codec&)>& attempt) const;

 private:
  const std::byte* read(const Stripes::Cell& cell, std::size_t bytes, std::size_t source);

  RemoteRegions& remote_;
  Stripes stripes_;
  std::vector<CohortSlot> slots_;
  std::vector<std::byte> pieces_;  // what was fetched, a unit for each source
};

}  // namespace fenix_impl
