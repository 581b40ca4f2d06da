// SPDX-License-Identifier: BSD-3-Clause
// A job on a store.
#pragma once

#include <cstdint>

namespace fenix_impl {

struct StoreRun {
  std::uint64_t store = 0;       ///< id of the store; 0: it has none, as it was full when it was made
  std::uint32_t number = 0;      ///< from 1 on; 0: there is no run
  std::uint32_t only_reads = 0;  ///< 1: the store takes no new files, so nothing can be flushed

  bool operator==(const StoreRun&) const = default;
  [[nodiscard]] bool is_on() const { return number != 0; }
  /// Takes over what another rank knows.
  void merge(const StoreRun& other) {
    if (other.number > number) *this = other;
  }
};

}  // namespace fenix_impl
