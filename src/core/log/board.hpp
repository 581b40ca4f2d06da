// SPDX-License-Identifier: BSD-3-Clause
// A table of progress: how far each rank of a redundancy set has come. Peers write their progress into this rank's memory.
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
  /// Uses memory of a region. area: ProgressCell::kBytes for each entry. start: its offset in the region that the peers
  /// see, the same on all ranks.
  Board(std::span<std::byte> area, std::size_t start)
      : area_(area), start_(start), known_(area.size() / ProgressCell::kBytes) {}

  [[nodiscard]] int size() const { return static_cast<int>(known_.size()); }
  /// Takes over the progress in another board, to which no rank may write in the meantime.
  void continue_from(Board& before);
  /// Sets all entries. No rank may publish in the meantime. Progress of another generation does not count from here on.
  void reset(Generation generation, Epoch base);
  /// Notes own progress in an entry, and tells the peers. ranks: the rank of each entry.
  void publish(RemoteRegions& peers, std::span<const int> ranks, int entry, Epoch epoch);
  /// Notes that this rank takes no further part, and tells the peers: nobody waits for it any more.
  void leave(RemoteRegions& peers, std::span<const int> ranks, int entry) {
    publish(peers, ranks, entry, kEpochOfTheGone);
  }
  [[nodiscard]] bool has_left(int entry) { return reached_by(entry) == kEpochOfTheGone; }
  /// Returns the progress that the first so many entries have all reached. It never decreases between two resets.
  [[nodiscard]] Epoch reached_by_first(int entries);

 private:
  [[nodiscard]] Epoch reached_by(int entry);
  [[nodiscard]] ProgressCell cell(int entry) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
  Generation generation_;
  std::vector<Epoch> known_;  // by entry: a cell that is just being written cannot be read
};

}  // namespace fenix_impl
