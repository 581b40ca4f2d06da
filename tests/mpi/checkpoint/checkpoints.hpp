// SPDX-License-Identifier: BSD-3-Clause
// Coordinated checkpoints as the programs of this folder take them: each rank goes on asking until the time has come.
#pragma once

#include <fenix.hpp>
#include <mpi.h>
#include <unistd.h>

#include "../check.hpp"

namespace check {

/// Calls function until it says that it is done.
template <class Function>
void wait_for(const char* what, const Function& function) {
  constexpr double kSeconds = 30;
  for (const double start = MPI_Wtime(); !function();) {
    require(MPI_Wtime() - start < kSeconds, what);
    usleep(200);
  }
}

/// Returns how many checkpoints are complete, after doing what is to be done for the next one.
inline int complete_checkpoints() {
  int count = 0;
  success(Fenix_Checkpoint_potential(nullptr), "Fenix_Checkpoint_potential");
  success(Fenix_Checkpoint_count(&count), "Fenix_Checkpoint_count");
  return count;
}

inline void await_checkpoints(int count) {
  wait_for("the checkpoint is complete", [&] { return complete_checkpoints() == count; });
}

/// Takes this rank's checkpoint, as soon as one is asked for.
inline void take_checkpoint() {
  wait_for("the checkpoint is taken", [] {
    int taken = 0;
    success(Fenix_Checkpoint_potential(&taken), "Fenix_Checkpoint_potential");
    return taken != 0;
  });
}

}  // namespace check
