// SPDX-License-Identifier: BSD-3-Clause
// How far all ranks of a group have committed, as this rank knows it. It spreads as in a dissemination barrier: each rank
// tells the ones 1, 2, 4, … places on what it knows of the 1, 2, 4, … ranks that end with itself. So nothing here grows
// faster than the logarithm of the ranks. Who needs to know at once, and not when the others next call the library, reads
// their memory. A commit does without allocations, so nothing here takes memory once it is made.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "core/log/progress_cell.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

class Dissemination {
 public:
  /// Of the area of each rank.
  [[nodiscard]] static std::size_t bytes(int ranks);

  Dissemination() = default;
  /// area: bytes(ranks); start: its offset in the region that the peers see, the same on all ranks.
  Dissemination(std::span<std::byte> area, std::size_t start, int rank, int ranks);

  [[nodiscard]] bool suits(int rank, int ranks) const { return rank_ == rank && ranks_ == ranks; }
  /// Takes over what another one knew, which nobody may write to meanwhile.
  void continue_from(Dissemination& before);
  /// Nobody may tell meanwhile. What is told for another generation does not count.
  void reset(Generation generation, Epoch base);

  /// The epoch that every rank is known to have committed. Local. Never goes back between two resets.
  [[nodiscard]] Epoch reached_by_all();
  /// Notes that this rank has committed an epoch, and passes on.
  void advance(RemoteRegions& peers, Epoch epoch);
  /// Tells others what this rank has come to know since it told them last.
  void pass_on(RemoteRegions& peers);
  /// Finds out in the memory of others whether all have committed the epoch after reached_by_all(); false if that is not
  /// known yet. Reads once from each rank that nothing is known of, until one has not, or from most_reads ranks; goes on
  /// from that one when it is called again.
  bool ask(RemoteRegions& peers, int most_reads);

 private:
  /// What is known of the 2^level ranks that end with a rank: the last level is about all.
  using Levels = std::vector<Epoch>;

  [[nodiscard]] std::size_t rounds() const { return heard_.size(); }
  [[nodiscard]] int rank_at(int distance) const { return (rank_ + distance) % ranks_; }
  [[nodiscard]] ProgressCell cell(std::size_t index) const;
  void listen();
  void fetch_row(RemoteRegions& peers, int rank);
  [[nodiscard]] int known_to_have(Epoch epoch, const Levels& levels) const;

  std::span<std::byte> area_;  // own progress, and then a cell for each round
  std::size_t start_ = 0;
  int rank_ = 0;
  int ranks_ = 1;
  Generation generation_;
  Epoch found_;               // by asking: all ranks have it
  std::vector<Epoch> heard_;  // by round: from the rank 2^round places before this one
  std::vector<Epoch> told_;   // by round: to the rank 2^round places on
  Levels levels_;
  Levels row_;                        // of another rank
  std::vector<ProgressWords> words_;  // the same as they are there
  Epoch asked_;                       // the epoch that is being asked for
  int have_it_ = 0;                   // ranks that end with this one and are known to have committed that
};

}  // namespace fenix_impl
