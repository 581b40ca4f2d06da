// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_checkpoint_begin(int group_id, int member_id, int log_bytes, int* time_stamp, int* ierr) {
  *ierr = Fenix_Checkpoint_begin(group_id, member_id, log_bytes, time_stamp);
}

void fenix_f_checkpoint_request(int* ierr) { *ierr = Fenix_Checkpoint_request(); }

void fenix_f_checkpoint_potential(int* taken, int* ierr) {
  *taken = 0;
  *ierr = Fenix_Checkpoint_potential(taken);
}

void fenix_f_checkpoint_count(int* count, int* ierr) {
  *count = 0;
  *ierr = Fenix_Checkpoint_count(count);
}

void fenix_f_checkpoint_finish(int* ierr) { *ierr = Fenix_Checkpoint_finish(); }

}  // extern "C"
