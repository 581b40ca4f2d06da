// SPDX-License-Identifier: BSD-3-Clause
// How far each rank of a cohort has come, as this rank knows it: peers write their progress into this rank's memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "core/log/progress_cell.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

class Board {
 public:
  Board() = default;
  /// area: ProgressCell::kBytes for each entry; start: its offset in the region that the peers see, the same on all ranks.
  Board(std::span<std::byte> area, std::size_t start)
      : area_(area), start_(start), known_(area.size() / ProgressCell::kBytes) {}

  [[nodiscard]] int size() const { return static_cast<int>(known_.size()); }
  /// Takes over what another board knew, which nobody may write to meanwhile.
  void continue_from(Board& before);
  /// Sets all entries: nobody may publish meanwhile. What is written for another generation does not count.
  void reset(Generation generation, Epoch base);
  /// Notes own progress in an entry, and tells those peers: ranks has the rank of each entry.
  void publish(RemoteRegions& peers, std::span<const int> ranks, int entry, Epoch epoch);
  /// What those of so many entries have all reached. Never goes back between two resets.
  [[nodiscard]] Epoch reached_by_first(int entries);

 private:
  [[nodiscard]] Epoch reached_by(int entry);
  [[nodiscard]] ProgressCell cell(int entry) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
  Generation generation_;
  std::vector<Epoch> known_;  // of each entry: one that is just being written cannot be read
};

}  // namespace fenix_impl
