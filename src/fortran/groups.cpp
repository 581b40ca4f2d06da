// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_group_create(int group_id, int comm, int start_time_stamp, int depth, int policy_name, int* policy_value,
                          int* flag, int* ierr) {
  *ierr =
      Fenix_Data_group_create(group_id, MPI_Comm_f2c(comm), start_time_stamp, depth, policy_name, policy_value, flag);
}

void fenix_f_group_created(int group_id, int* flag, int* ierr) {
  split(Fenix_Data_group_created(group_id), flag, ierr);
}

void fenix_f_group_delete(int group_id, int* ierr) { *ierr = Fenix_Data_group_delete(group_id); }

void fenix_f_group_get_redundancy_policy(int group_id, int* policy_name, int* policy_value, int* flag, int* ierr) {
  *ierr = Fenix_Data_group_get_redundancy_policy(group_id, policy_name, policy_value, nullptr);
  *flag = *ierr == FENIX_SUCCESS ? 1 : 0;
}

void fenix_f_group_set_redundancy_policy(int group_id, int policy_name, int* policy_value, int* flag, int* ierr) {
  *flag = 0;
  *ierr = Fenix_Data_group_set_redundancy_policy(group_id, policy_name, policy_value, flag);
}

void fenix_f_group_get_cohort(int group_id, int* cohort, int* ierr) {
  MPI_Group group = MPI_GROUP_NULL;
  *ierr = Fenix_Data_group_get_cohort(group_id, &group);
  *cohort = MPI_Group_c2f(group);
}

void fenix_f_group_set_hashing(int group_id, int hashing, int* ierr) {
  *ierr = Fenix_Data_group_set_hashing(group_id, hashing);
}

void fenix_f_group_set_in_place(int group_id, int in_place, int* ierr) {
  *ierr = Fenix_Data_group_set_in_place(group_id, in_place);
}

void fenix_f_group_get_in_place(int group_id, int* in_place, int* ierr) {
  *in_place = 0;
  *ierr = Fenix_Data_group_get_in_place(group_id, in_place);
}

void fenix_f_group_get_hashing(int group_id, int* hashing, int* ierr) {
  *hashing = 0;
  *ierr = Fenix_Data_group_get_hashing(group_id, hashing);
}

void fenix_f_group_get_number_of_members(int group_id, int* number_of_members, int* ierr) {
  *ierr = Fenix_Data_group_get_number_of_members(group_id, number_of_members);
}

void fenix_f_group_get_member_at_position(int group_id, int* member_id, int position, int* ierr) {
  *ierr = Fenix_Data_group_get_member_at_position(group_id, member_id, position);
}

void fenix_f_group_get_number_of_snapshots(int group_id, int* number_of_snapshots, int* ierr) {
  *ierr = Fenix_Data_group_get_number_of_snapshots(group_id, number_of_snapshots);
}

void fenix_f_group_get_snapshot_at_position(int group_id, int position, int* time_stamp, int* ierr) {
  *ierr = Fenix_Data_group_get_snapshot_at_position(group_id, position, time_stamp);
}

}  // extern "C"
