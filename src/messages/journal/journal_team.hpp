// SPDX-License-Identifier: BSD-3-Clause
// The ranks whose journals are attached together: who holds copies of whose ring, and the way to their memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Returns the ranks that hold copies of a rank's ring, by number of the copy; fewer than copies if there are too few ranks.
[[nodiscard]] std::vector<int> holders_of(int rank, int ranks, const JournalParameters& parameters);

class JournalTeam {
 public:
  static constexpr int kNoRank = -1;

  explicit JournalTeam(const JournalParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] const JournalParameters& parameters() const { return parameters_; }
  /// Makes the memory of all ranks reachable. choose: returns the path; slots: by rank of the team. Collective. Throws as Team and Path do.
  void attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots,
              const Region& own);
  /// Releases the memory of others. Local, as all that follow.
  void detach();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int slot_of(int rank) const { return slots_[static_cast<std::size_t>(rank)]; }
  /// Returns the rank with a slot, or kNoRank.
  [[nodiscard]] int rank_of(int slot) const;
  /// Returns the holders of the own ring.
  [[nodiscard]] const std::vector<int>& holders() const { return holders_; }
  /// Returns the holders of the ring of another rank.
  [[nodiscard]] std::vector<int> holders_of_rank(int rank) const {
    return holders_of(rank, static_cast<int>(slots_.size()), parameters_);
  }
  /// Returns the ranks that are 1, 2, 3, … places away.
  [[nodiscard]] std::vector<int> witnesses() const;
  /// Returns the memory of others, while it is reachable.
  [[nodiscard]] RemoteRegions& remote() const { return *remote_; }

 private:
  JournalParameters parameters_;
  int rank_ = kNoRank;
  std::vector<int> holders_;  // by number of the copy
  std::vector<int> slots_;    // by rank
  std::shared_ptr<Path> path_;
  std::unique_ptr<RemoteRegions> remote_;
};

}  // namespace fenix_impl
