// SPDX-License-Identifier: BSD-3-Clause
// Encoding of data that is in no region, as commits in place need it: the ranks of a cohort go through their members in step. Each
// copies the next part to a bounce buffer, where the others read it, and computes its hashes meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/member/snapshot_reader.hpp"
#include "core/protection/cohort_slots.hpp"
#include "core/protection/protection.hpp"
#include "parity/codec.hpp"

namespace fenix_impl {

/// The encodings of a cohort's members in one commit.
class BouncedEncoding {
 public:
  /// step: number of the last step that the ranks of the cohort have taken together.
  BouncedEncoding(Control& control, std::span<const int> cohort, int index, Codec& codec, const Wait& wait,
                  std::uint64_t step)
      : control_(control), cohort_(cohort), index_(index), codec_(codec), wait_(wait), step_(step), before_(step) {}

  /// Encodes the changes of a member. changed: bytes that have changed, of any rank of the cohort. slots: of the ranks; only ranks
  /// and sizes count. parity: of this rank. The same changes and sizes on all ranks.
  void encode(const Change& change, const Stripes& stripes, const IntervalSet& changed, std::vector<CohortSlot> slots,
              std::span<std::byte> parity);
  /// Returns the number of the last step.
  [[nodiscard]] std::uint64_t step() const { return step_; }

 private:
  class Filler;

  [[nodiscard]] std::size_t half() const { return control_.bounce.size() / 2; }

  Control& control_;
  std::span<const int> cohort_;
  int index_;
  Codec& codec_;
  const Wait& wait_;
  std::uint64_t step_;
  std::uint64_t before_;  // the last step of another commit: nobody reads the buffers any more
};

}  // namespace fenix_impl
