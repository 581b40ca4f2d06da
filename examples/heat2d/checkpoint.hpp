// SPDX-License-Identifier: BSD-3-Clause
//
// The state of the computation in Fenix: the field and the number of steps done.
#ifndef HEAT2D_CHECKPOINT_HPP
#define HEAT2D_CHECKPOINT_HPP

#include <mpi.h>

#include "field.hpp"

namespace heat2d {

/// Throws std::runtime_error with the text of the last error if code is an error of Fenix.
void require(int code);

/// Where the computation goes on.
struct Resumption {
  int step = 0;
  int time_stamp = -1;  ///< of the checkpoint that was restored; −1: there was none, step 0 was computed anew
  bool lost = false;    ///< there were checkpoints, but more ranks died than they can stand
};

class Checkpoint {
 public:
  explicit Checkpoint(int depth) : depth_(depth) {}

  /// Collective, at the start and after each failure. Fills the field from the newest checkpoint, or with step 0.
  Resumption resume(MPI_Comm comm, Field& field);
  /// Collective. When it returns, the state survives.
  void save(Field& field, int step);

 private:
  bool attach(MPI_Comm comm, Field& field);

  int depth_;
  int step_ = 0;
};

}  // namespace heat2d

#endif
