// SPDX-License-Identifier: BSD-3-Clause
// The messages of a collective operation, in rounds. Reductions are made in an order that depends on the number of ranks only, so that
// an operation that is repeated gives the same bits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "interposition/collective_blocks.hpp"

namespace fenix_impl {

/// Memory for elements of a type.
class ElementMemory {
 public:
  ElementMemory(int count, MPI_Datatype type);
  [[nodiscard]] void* first() const { return first_; }

 private:
  std::vector<std::byte> memory_;
  void* first_ = nullptr;
};

/// A message to a rank, or from it.
struct Transfer {
  int rank = 0;
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// All messages are under way at the same time. They are sent from their buffers, or from copies.
struct Round {
  std::vector<Transfer> sent;
  std::vector<Transfer> received;
  std::function<void()> then;  ///< called when all have been received; may be empty
};

class CollectiveSchedule {
 public:
  /// now: the communicator that does the work for that of the call. Throws MpiError for wrong arguments.
  CollectiveSchedule(const Collective& call, MPI_Comm now);
  CollectiveSchedule(const CollectiveSchedule&) = delete;
  CollectiveSchedule& operator=(const CollectiveSchedule&) = delete;

  [[nodiscard]] const std::deque<Round>& rounds() const { return rounds_; }

 private:
  void plan();
  void add_barrier();
  void add_exchange();
  void add_broadcast(const ElementRange& range, int root);
  void* add_reduction(const ElementRange& contribution, const ElementRange& at_root, int root);
  void add_scan(bool with_own);
  void add_reduce_scatter();
  [[nodiscard]] ElementRange input() const;
  [[nodiscard]] ElementRange result() const;
  [[nodiscard]] void* memory_for(int count, MPI_Datatype type);
  [[nodiscard]] int distance_to(int rank) const { return (rank - rank_ + size_) % size_; }

  Collective call_;
  CollectiveBlocks blocks_;
  int rank_ = 0;
  int size_ = 1;
  std::deque<Round> rounds_;
  std::deque<ElementMemory> memory_;
};

}  // namespace fenix_impl
