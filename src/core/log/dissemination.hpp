// SPDX-License-Identifier: BSD-3-Clause
// The progress of all ranks of a group in committing, as this rank knows it. It spreads as in a dissemination barrier:
// each rank tells the ranks 1, 2, 4, … positions after it what it knows of the 1, 2, 4, … ranks that end with itself.
// Memory and messages therefore grow with the logarithm of the ranks. A rank that needs to know at once, before the
// others next call the library, reads their memory. Nothing here takes memory once it is made: a commit does without
// allocations.
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
  /// Returns the size of the area of each rank.
  [[nodiscard]] static std::size_t bytes(int ranks);
  /// Returns the ranks that a rank tells of its progress.
  [[nodiscard]] static std::vector<int> told_by(int rank, int ranks);

  Dissemination() = default;
  /// Uses memory of a region. area: bytes(ranks). start: its offset in the region that the peers see, the same on all
  /// ranks.
  Dissemination(std::span<std::byte> area, std::size_t start, int rank, int ranks);

  [[nodiscard]] bool suits(int rank, int ranks) const { return rank_ == rank && ranks_ == ranks; }
  /// Takes over the knowledge of another object, to which no rank may write in the meantime.
  void continue_from(Dissemination& before);
  /// Begins again at an epoch. No rank may tell anything in the meantime. Progress of another generation does not count
  /// from here on.
  void reset(Generation generation, Epoch base);

  /// Returns the epoch that every rank is known to have committed. Local. It never decreases between two resets.
  [[nodiscard]] Epoch reached_by_all();
  /// Notes that this rank has committed an epoch, and passes it on.
  void advance(RemoteRegions& peers, Epoch epoch);
  /// Tells others what this rank has learnt since it told them last.
  void pass_on(RemoteRegions& peers);
  /// Finds out in the memory of other ranks whether all have committed the epoch after reached_by_all(). Returns false
  /// if that is not known yet. Reads once from each rank of which nothing is known, until one of them has not committed
  /// it, or from most_reads ranks. The next call goes on from there.
  bool ask(RemoteRegions& peers, int most_reads);

 private:
  /// The knowledge about the 2^level ranks that end with a rank, by level. The last level is about all ranks.
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
  Epoch found_;                            // all ranks have it, found by asking
  std::vector<Epoch> heard_;               // by round: told by the rank 2^round positions before this one
  std::vector<ProgressWords> last_words_;  // from which heard_ comes: to check the same ones again takes a while
  std::vector<Epoch> told_;                // by round: told to the rank 2^round positions after this one
  Levels levels_;
  Levels row_;                        // knowledge of another rank
  std::vector<ProgressWords> words_;  // the same in the form in which it is stored there
  Epoch asked_;                       // epoch that is being asked for
  int have_it_ = 0;                   // ranks that end with this one and are known to have committed it
};

}  // namespace fenix_impl
