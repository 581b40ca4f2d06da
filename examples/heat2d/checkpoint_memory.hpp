// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints in Fenix: in the memory of the ranks.
#ifndef HEAT2D_CHECKPOINT_MEMORY_HPP
#define HEAT2D_CHECKPOINT_MEMORY_HPP

#include <mpi.h>

#include "checkpoint.hpp"
#include "field.hpp"

namespace heat2d {

/// Throws std::runtime_error with the text of the last error if code is an error of Fenix.
void require(int code);

class MemoryCheckpoint : public Checkpoint {
 public:
  explicit MemoryCheckpoint(int depth) : depth_(depth) {}

  Resumption resume(MPI_Comm comm, Field& field) override;
  void save(Field& field, int step) override;

 private:
  // Numbers that are saved with the field: who has which cells follows from the number of ranks.
  struct State {
    int step = 0;
    int ranks = 0;
  };

  bool attach(MPI_Comm comm, Field& field);
  bool restore(Field& field);
  bool divide_anew(MPI_Comm comm, Field& field);

  int depth_;
  State state_;
};

}  // namespace heat2d

#endif
