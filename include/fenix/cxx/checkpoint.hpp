// SPDX-License-Identifier: BSD-3-Clause
//
// C++: coordinated checkpoints that do not block. See <fenix/checkpoint.h>. All functions throw RuntimeException if there is an error; in
// resume mode "return" also with FENIX_ERROR_CANCELLED, because their results have no room for it.
#ifndef FENIX_CXX_CHECKPOINT_HPP
#define FENIX_CXX_CHECKPOINT_HPP

#include "process.hpp"

namespace fenix::checkpoints {

/// Calls Fenix_Checkpoint_begin.
/// @param group_id, member_id, log_bytes as in C
/// @return the time stamp of the checkpoint from which all ranks go on, or FENIX_CHECKPOINT_NONE
inline int begin(int group_id, int member_id, int log_bytes) {
  int time_stamp = FENIX_CHECKPOINT_NONE;
  check(Fenix_Checkpoint_begin(group_id, member_id, log_bytes, &time_stamp));
  return time_stamp;
}
/// Calls Fenix_Checkpoint_request.
/// @return as in C
inline int request() { return check(Fenix_Checkpoint_request()); }
/// Calls Fenix_Checkpoint_potential.
/// @return true if a checkpoint was taken
inline bool potential() {
  int taken = 0;
  check(Fenix_Checkpoint_potential(&taken));
  return taken != 0;
}
/// Calls Fenix_Checkpoint_count.
/// @return the number of checkpoints that this rank has committed
inline int count() {
  int number = 0;
  check(Fenix_Checkpoint_count(&number));
  return number;
}
/// Calls Fenix_Checkpoint_finish.
/// @return as in C
inline int finish() { return check(Fenix_Checkpoint_finish()); }

}  // namespace fenix::checkpoints

#endif
