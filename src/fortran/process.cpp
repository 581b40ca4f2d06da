// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "fortran/handles.hpp"

extern "C" {

void fenix_f_init(int* role, int comm, int* newcomm, int spare_ranks, int spawn, int info, int* error) {
  fenix_detail_fortran_init(role, MPI_Comm_f2c(comm), newcomm, spare_ranks, spawn, MPI_Info_f2c(info), error);
}

void fenix_f_initialized(int* flag, int* ierr) { *ierr = Fenix_Initialized(flag); }

void fenix_f_finalized(int* flag, int* ierr) { *ierr = Fenix_Finalized(flag); }

void fenix_f_finalize(int* ierr) { *ierr = Fenix_Finalize(); }

void fenix_f_set_option(int setting, int option, int* ierr) {
  if (setting == FENIX_RESUME_MODE && option != FENIX_RESUME_RETURN) {
    *ierr = fenix_detail_refuse(FENIX_ERROR_INVALID_SETTING_OPTION,
                                "option is not FENIX_RESUME_RETURN: Fortran has no other");
    return;
  }
  *ierr = Fenix_set_option(static_cast<Fenix_Setting_name>(setting), static_cast<unsigned>(option));
}

void fenix_f_get_option(int setting, int* option, int* ierr) {
  unsigned value = 0;
  *ierr = Fenix_get_option(static_cast<Fenix_Setting_name>(setting), &value);
  *option = static_cast<int>(value);
}

void fenix_f_callback_register(FortranRecover recover, void* callback_data, int* ierr) {
  *ierr = Fenix_Callback_register([=](MPI_Comm comm, int error) { recover(MPI_Comm_c2f(comm), error, callback_data); });
}

void fenix_f_callback_register_at(FortranRecover recover, void* callback_data, int location, int* ierr) {
  *ierr = Fenix_Callback_register([=](MPI_Comm comm, int error) { recover(MPI_Comm_c2f(comm), error, callback_data); },
                                  location);
}

void fenix_f_callback_pop_at(int location, int* ierr) { *ierr = Fenix_Callback_pop_at(location); }

void fenix_f_callback_invoke_all_at(int location, int* ierr) { *ierr = Fenix_Callback_invoke_all_at(location); }

void fenix_f_callback_pop(int* ierr) { *ierr = Fenix_Callback_pop(); }

void fenix_f_callback_invoke_all(int* ierr) { *ierr = Fenix_Callback_invoke_all(); }

void fenix_f_own_role(int* role, int* ierr) {
  *role = Fenix_get_role();
  *ierr = FENIX_SUCCESS;
}

void fenix_f_role_of(int comm, int rank, int* role, int* ierr) {
  *ierr = Fenix_Get_role(MPI_Comm_f2c(comm), rank, role);
}

void fenix_f_get_rank_role(int comm, int rank, int* role, int* ierr) {
  *ierr = Fenix_get_rank_role(MPI_Comm_f2c(comm), rank, role);
}

void fenix_f_get_slot(int* slot, int* ierr) { split(Fenix_get_slot(), slot, ierr); }

void fenix_f_rank_to_slot(int comm, int rank, int* slot, int* ierr) {
  *ierr = Fenix_rank_to_slot(MPI_Comm_f2c(comm), rank, slot);
}

void fenix_f_slot_to_rank(int comm, int slot, int* rank, int* ierr) {
  *ierr = Fenix_slot_to_rank(MPI_Comm_f2c(comm), slot, rank);
}

void fenix_f_repair_group(int old_group, int* new_group, int* ierr) {
  MPI_Group group = MPI_GROUP_NULL;
  *ierr = Fenix_repair_group(MPI_Group_f2c(old_group), &group);
  *new_group = MPI_Group_c2f(group);
}

void fenix_f_number_with_role(int role, int* number_of_ranks, int* ierr) {
  *ierr = Fenix_get_number_of_ranks_with_role(role, number_of_ranks);
}

void fenix_f_number_with_role_in(int comm, int role, int* number_of_ranks, int* ierr) {
  *ierr = Fenix_Get_number_of_ranks_with_role(MPI_Comm_f2c(comm), role, number_of_ranks);
}

void fenix_f_get_error(int* error, int* ierr) {
  // An error of Fenix_Init is the result of this call. It does not mean that this call failed.
  *error = Fenix_get_error();
  *ierr = *error == FENIX_ERROR_UNINITIALIZED ? FENIX_ERROR_UNINITIALIZED : FENIX_SUCCESS;
}

void fenix_f_get_nspare(int* nspare, int* ierr) { split(Fenix_get_nspare(), nspare, ierr); }

void fenix_f_process_fail_list(int** fail_list, int* number, int* ierr) {
  split(Fenix_Process_fail_list(fail_list), number, ierr);
}

void fenix_f_process_repair_times(double* noticed, double* repaired, int* ierr) {
  *ierr = Fenix_Process_repair_times(noticed, repaired);
}

void fenix_f_process_detect_failures(int do_recovery, int* ierr) { *ierr = Fenix_Process_detect_failures(do_recovery); }

void fenix_f_check_cancelled(int* request, int* status, int* cancelled, int* ierr) {
  MPI_Request c_request = MPI_Request_f2c(*request);
  MPI_Status c_status{};
  const bool wanted = status != nullptr && status != MPI_F_STATUS_IGNORE;
  split(Fenix_check_cancelled(&c_request, wanted ? &c_status : MPI_STATUS_IGNORE), cancelled, ierr);
  *request = MPI_Request_c2f(c_request);
  if (wanted) MPI_Status_c2f(&c_status, status);
}

void fenix_f_error_message(const char** text, int* length) {
  *text = Fenix_Error_message();
  *length = static_cast<int>(std::strlen(*text));
}

int fenix_f_refuse_section() {
  return fenix_detail_refuse(FENIX_ERROR_INVALID_ARGUMENT, "the buffer is an array section with gaps");
}

}  // extern "C"
