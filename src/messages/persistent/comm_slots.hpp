// SPDX-License-Identifier: BSD-3-Clause
// The slots of the ranks of a communicator. Ranks may have other numbers after a repair; slots stay.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "recovery/process/process.hpp"

namespace fenix_impl {

class CommSlots {
 public:
  /// Learns them. now: the communicator. Throws MpiError. Local.
  void look_up(const Process& process, MPI_Comm now);
  /// Whether they have been looked up since the latest repair.
  [[nodiscard]] bool are_known(const Process& process) const { return repairs_ == process.repair().count(); }

  [[nodiscard]] const std::vector<int>& by_rank() const { return slots_; }
  /// Throws std::out_of_range for a rank that there is not.
  [[nodiscard]] int of(int rank) const { return slots_.at(static_cast<std::size_t>(rank)); }
  [[nodiscard]] int own() const { return own_; }
  /// Returns the rank with a slot, or nothing.
  [[nodiscard]] std::optional<int> rank_of(int slot) const;

 private:
  std::vector<int> slots_;  // by rank
  int own_ = 0;
  int repairs_ = 0;  // when they were looked up
};

}  // namespace fenix_impl
