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

/// Point from which the computation continues.
struct Resumption {
  int step = 0;
  int time_stamp = -1;  ///< time stamp of the restored checkpoint; −1: there was none, and step 0 was computed again
  bool lost = false;    ///< checkpoints existed, but more ranks died than they tolerate
};

class Checkpoint {
 public:
  explicit Checkpoint(int depth) : depth_(depth) {}

  /// Fills the field from the newest checkpoint, or with step 0. Collective, at the start and after each failure.
  Resumption resume(MPI_Comm comm, Field& field);
  /// Saves the state: it survives failures from the return of this function on. Collective.
  void save(Field& field, int step);

 private:
  bool attach(MPI_Comm comm, Field& field);

  int depth_;
  int step_ = 0;
};

}  // namespace heat2d

#endif
