// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                            FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_restore(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

void fenix_f_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                             FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_lrestore(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

void fenix_f_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                      FortranSubset* found_data, int source_rank, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, found,
                                               source_rank);
  });
}

void fenix_f_member_load_to(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                            FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_load_to(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

void fenix_f_member_load(int group_id, int member_id, int time_stamp, FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_load(group_id, member_id, time_stamp, found);
  });
}

void fenix_f_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp, FortranSubset* found_data,
                               int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_load_begin(group_id, member_id, file, time_stamp, found);
  });
}

void fenix_f_member_load_end(int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Data_member_load_end(group_id, member_id);
}

void fenix_f_member_repair(int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Data_member_repair(group_id, member_id);
}

void fenix_f_verify(int group_id, int* num_mended, int* num_lost, int* ierr) {
  *ierr = Fenix_Data_verify(group_id, num_mended, num_lost);
}

}  // extern "C"
