// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_member_stage(int group_id, int member_id, const FortranSubset* subset_specifier, int* ierr) {
  *ierr = Fenix_Data_member_stage(group_id, member_id, subset_to_c(*subset_specifier));
}

void fenix_f_member_stage_inplace(int group_id, int member_id, void* buf, const FortranSubset* subset_specifier,
                                  int* ierr) {
  *ierr = Fenix_Data_member_stage_inplace(group_id, member_id, buf, subset_to_c(*subset_specifier));
}

void fenix_f_member_stage_memory(int group_id, int member_id, void** memory, int* ierr) {
  *ierr = Fenix_Data_member_stage_memory(group_id, member_id, memory);
}

void fenix_f_member_stage_begin(int group_id, int member_id, FILE** file, int* ierr) {
  *ierr = Fenix_Data_member_stage_begin(group_id, member_id, file);
}

void fenix_f_member_stage_end(int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Data_member_stage_end(group_id, member_id);
}

void fenix_f_member_store(int group_id, int member_id, const FortranSubset* subset_specifier, int* ierr) {
  *ierr = Fenix_Data_member_store(group_id, member_id, subset_to_c(*subset_specifier));
}

void fenix_f_member_storev(int group_id, int member_id, const FortranSubset* subset_specifier, int* ierr) {
  *ierr = Fenix_Data_member_storev(group_id, member_id, subset_to_c(*subset_specifier));
}

void fenix_f_member_istore(int group_id, int member_id, const FortranSubset* subset_specifier, Fenix_Request* request,
                           int* ierr) {
  *ierr = Fenix_Data_member_istore(group_id, member_id, subset_to_c(*subset_specifier), request);
}

void fenix_f_member_istorev(int group_id, int member_id, const FortranSubset* subset_specifier, Fenix_Request* request,
                            int* ierr) {
  *ierr = Fenix_Data_member_istorev(group_id, member_id, subset_to_c(*subset_specifier), request);
}

void fenix_f_wait(const Fenix_Request* request, int* ierr) { *ierr = Fenix_Data_wait(*request); }

void fenix_f_test(const Fenix_Request* request, int* flag, int* ierr) {
  *flag = 0;
  *ierr = Fenix_Data_test(*request, flag);
}

void fenix_f_commit(int group_id, int* time_stamp, int* ierr) { *ierr = Fenix_Data_commit(group_id, time_stamp); }

void fenix_f_commit_barrier(int group_id, int* time_stamp, int* ierr) {
  *ierr = Fenix_Data_commit_barrier(group_id, time_stamp);
}

void fenix_f_commit_cleanup(int group_id, int* time_stamp, int* ierr) {
  *ierr = Fenix_Data_commit_cleanup(group_id, time_stamp);
}

void fenix_f_cleanup(int group_id, int* ierr) { *ierr = Fenix_Data_cleanup(group_id); }

void fenix_f_barrier(int group_id, int* ierr) { *ierr = Fenix_Data_barrier(group_id); }

void fenix_f_checkpoint(int group_id, const FortranSubset* subset, int num_storev, int* storev_ids, int* time_stamp,
                        int* ierr) {
  *ierr = Fenix_Data_checkpoint(group_id, subset_to_c(*subset), num_storev, storev_ids, time_stamp);
}

void fenix_f_checkpointv(int group_id, const FortranSubset* subset, int* time_stamp, int* ierr) {
  *ierr = Fenix_Data_checkpointv(group_id, subset_to_c(*subset), time_stamp);
}

void fenix_f_snapshot_delete(int group_id, int time_stamp, int* ierr) {
  *ierr = Fenix_Data_snapshot_delete(group_id, time_stamp);
}

}  // extern "C"
