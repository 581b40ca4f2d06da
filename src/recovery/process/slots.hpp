// SPDX-License-Identifier: BSD-3-Clause
// The places of ranks in the application. A rank keeps its slot when ranks get other numbers, and a replacement takes over
// the slot of the process that it replaces.
#pragma once

#include <mpi.h>

#include <vector>

namespace fenix_impl {

class RankSlots {
 public:
  RankSlots() = default;
  RankSlots(const RankSlots&) = delete;
  RankSlots& operator=(const RankSlots&) = delete;
  ~RankSlots();

  /// Begins with so many ranks: rank r has slot r.
  void begin(int ranks);
  /// Begins in a process that has joined later: the slots by rank that the others know, and their number.
  void take(const std::vector<int>& slots, int number);
  /// Gives the slots of former ranks to the ranks that there are now. world: they are its first processes.
  void renumber(const std::vector<int>& former, MPI_Comm world);

  /// Returns the slots by rank.
  [[nodiscard]] const std::vector<int>& by_rank() const { return by_rank_; }
  /// Returns the number of slots, those without a rank included.
  [[nodiscard]] int number() const { return number_; }
  /// Returns the rank that has a slot, or MPI_UNDEFINED.
  [[nodiscard]] int rank_of(int slot) const;
  /// Returns a group in which each process that had a slot is replaced by the one that has it now, if there is one.
  [[nodiscard]] MPI_Group repair(MPI_Group group) const;

 private:
  void remember(MPI_Group ranks);
  [[nodiscard]] static std::vector<int> find(MPI_Group members, MPI_Group in);

  int number_ = 0;
  std::vector<int> by_rank_;
  MPI_Group ranks_ = MPI_GROUP_EMPTY;       // the ranks that there are now
  MPI_Group all_so_far_ = MPI_GROUP_EMPTY;  // all processes that have had a slot
  std::vector<int> slots_so_far_;           // of them
};

}  // namespace fenix_impl
