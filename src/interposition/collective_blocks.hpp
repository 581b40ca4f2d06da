// SPDX-License-Identifier: BSD-3-Clause
// The blocks of its buffers that a rank gives in a collective operation, and those that it gets. docs/message-logging.md has the rules. Both
// libraries have this.
#pragma once

#include <cstdint>
#include <vector>

#include "interposition/collective.hpp"

namespace fenix_impl {

/// Whose contributions an operation has, and who gets something of them.
enum class Ranks {
  root,
  all,
  neighbours,
};

/// The way in which contributions become one result.
enum class Combines {
  none,       ///< each block has a place of its own
  all,        ///< of the contributions of all ranks
  up_to_own,  ///< of those up to the own one
  below_own,  ///< of those before the own one
};

/// The things in which operations differ.
struct CollectiveShape {
  Ranks givers = Ranks::all;
  Ranks takers = Ranks::all;
  bool has_block_for_each = false;  ///< a giver has a block for each taker, and not one for all
  Combines combination = Combines::none;
};

[[nodiscard]] const CollectiveShape& shape_of(CollectiveKind kind);

/// Some elements of a buffer of the program.
struct ElementRange {
  void* buffer = nullptr;
  std::int64_t first = 0;  ///< element
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// Elements that a rank gives to a rank, or gets from it.
struct BlockOfRank {
  static constexpr int kEveryRank = -1;

  int rank = kEveryRank;
  int label = 0;  ///< tells several blocks from one rank to another apart
  ElementRange place;
};

/// The blocks of this rank in a call.
class CollectiveBlocks {
 public:
  /// now: the communicator that does the work for that of the call. Throws MpiError for a root or a topology that is wrong. Local.
  CollectiveBlocks(const Collective& call, MPI_Comm now);

  /// Whether this rank contributes, and whether it gets something.
  [[nodiscard]] bool gives() const { return gives_; }
  [[nodiscard]] bool takes() const { return takes_; }
  /// Returns the blocks that it contributes.
  [[nodiscard]] std::vector<BlockOfRank> given() const;
  /// Returns the same for each rank that gets them.
  [[nodiscard]] std::vector<BlockOfRank> sent() const;
  /// Returns those that it gets. If they are combined, all have the place of the result.
  [[nodiscard]] std::vector<BlockOfRank> taken() const;

 private:
  struct Neighbour {
    int rank = 0;
    int label = 0;
  };

  void look_up_neighbours();
  [[nodiscard]] ElementRange contribution(int piece) const;

  Collective call_;
  CollectiveShape shape_;
  MPI_Comm now_;
  int rank_ = 0;
  int size_ = 0;
  bool gives_ = true;
  bool takes_ = true;
  std::vector<Neighbour> from_;  // in their order; MPI_PROC_NULL: none
  std::vector<Neighbour> to_;
};

}  // namespace fenix_impl
