// SPDX-License-Identifier: BSD-3-Clause
//
// The saved state of the computation: the field and the number of steps done.
#ifndef HEAT2D_CHECKPOINT_HPP
#define HEAT2D_CHECKPOINT_HPP

#include <mpi.h>

#include "field.hpp"

namespace heat2d {

/// Point from which the computation continues.
struct Resumption {
  int step = 0;
  int time_stamp = -1;  ///< time stamp of the restored checkpoint; −1: there was none in memory
  bool lost = false;    ///< checkpoints existed, but more ranks died than they tolerate
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;

  /// Fills the field from the newest checkpoint, or with step 0. Collective, at the start and after each failure.
  virtual Resumption resume(MPI_Comm comm, Field& field) = 0;
  /// Saves the state: it survives failures from the return of this function on. Collective.
  virtual void save(Field& field, int step) = 0;
};

}  // namespace heat2d

#endif
