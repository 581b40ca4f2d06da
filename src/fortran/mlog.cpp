// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_mlog_create(int mlog_id, int* comm, int depth, int* ierr) {
  MPI_Comm c_comm = MPI_Comm_f2c(*comm);
  *ierr = Fenix_Mlog_create(mlog_id, &c_comm, depth);
  *comm = MPI_Comm_c2f(c_comm);
}

void fenix_f_mlog_activate(int mlog_id, int* ierr) { *ierr = Fenix_Mlog_activate(mlog_id); }

void fenix_f_mlog_active(int* mlog_id, int* ierr) { *ierr = Fenix_Mlog_active(mlog_id); }

void fenix_f_mlog_begin_region(int mlog_id, int region_id, int* ierr) {
  *ierr = Fenix_Mlog_begin_region(mlog_id, region_id);
}

void fenix_f_mlog_activate_region(int mlog_id, int region_id, int* ierr) {
  *ierr = Fenix_Mlog_activate_region(mlog_id, region_id);
}

void fenix_f_mlog_sync(int mlog_id, int region_id, int* ierr) { *ierr = Fenix_Mlog_sync(mlog_id, region_id); }

void fenix_f_mlog_create_data_member(int mlog_id, int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Mlog_create_data_member(mlog_id, group_id, member_id);
}

void fenix_f_mlog_define_data_member(int mlog_id, int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Mlog_define_data_member(mlog_id, group_id, member_id);
}

void fenix_f_mlog_stage(int mlog_id, int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Mlog_stage(mlog_id, group_id, member_id);
}

void fenix_f_mlog_lrestore(int mlog_id, int group_id, int member_id, int time_stamp, int* ierr) {
  *ierr = Fenix_Mlog_lrestore(mlog_id, group_id, member_id, time_stamp);
}

void fenix_f_mlog_delete(int mlog_id, int* ierr) { *ierr = Fenix_Mlog_delete(mlog_id); }

}  // extern "C"
