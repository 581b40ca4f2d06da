// SPDX-License-Identifier: BSD-3-Clause
// Whether a store should look for blocks that are as they were: it takes time, and is worth it where many are.
#pragma once

#include <cstdint>

namespace fenix_impl {

class Similarity {
 public:
  enum class Look { nowhere, at_a_sample, everywhere };
  /// Fewer blocks are not compared.
  static constexpr std::uint64_t kFewToCompare = 4;

  /// Returns where the next store should look. blocks: of the store. Counts the calls.
  [[nodiscard]] Look look_for_unchanged(std::uint64_t blocks) {
    constexpr std::uint64_t kManyBlocks = 64;
    constexpr std::uint32_t kStoresBetween = 8;  // with fewer blocks than many, a sample is a large part of them
    if (blocks < kFewToCompare) return Look::nowhere;
    if (is_similar_) return Look::everywhere;
    return blocks >= kManyBlocks || ++stores_ % kStoresBetween == 0 ? Look::at_a_sample : Look::nowhere;
  }
  /// Notes whether so many blocks were unchanged the last time that it pays to look at all of them.
  void note(bool similar) { is_similar_ = similar; }

 private:
  bool is_similar_ = false;
  std::uint32_t stores_ = 0;
};

}  // namespace fenix_impl
