// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "fortran/handles.hpp"

namespace {

/// Turns a text of C into one of Fortran: blanks in place of the zero at its end, and of all that follows.
void fill_with_blanks(char* text) {
  const std::size_t length = ::strnlen(text, FENIX_DATASET_NAME_MAX);
  std::memset(text + length, ' ', FENIX_DATASET_NAME_MAX - length);
}

}  // namespace

extern "C" {

void fenix_f_flush(int group_id, int time_stamp, const char* name, int* ierr) {
  *ierr = Fenix_Data_flush(group_id, time_stamp, name);
}

void fenix_f_iflush(int group_id, int time_stamp, const char* name, Fenix_Request* request, int* ierr) {
  *ierr = Fenix_Data_iflush(group_id, time_stamp, name, request);
}

void fenix_f_flush_state(int group_id, int time_stamp, int* state, std::int64_t* bytes, int* ierr) {
  MPI_Count written = 0;
  *ierr = Fenix_Data_flush_state(group_id, time_stamp, state, &written);
  if (bytes != nullptr) *bytes = written;
}

void fenix_f_group_set_flush(int group_id, int every, int* ierr) {
  *ierr = Fenix_Data_group_set_flush(group_id, every);
}

void fenix_f_fetch(int group_id, const char* name, int* time_stamp, int* ierr) {
  *ierr = Fenix_Data_fetch(group_id, name, time_stamp);
}

void fenix_f_restart_done(int group_id, int good, int* ierr) { *ierr = Fenix_Data_restart_done(group_id, good); }

void fenix_f_get_number_of_datasets(int* number_of_datasets, int* ierr) {
  *ierr = Fenix_Data_get_number_of_datasets(number_of_datasets);
}

void fenix_f_get_dataset_at_position(int position, char* name, char* label, int* complete, int* ierr) {
  *name = *label = 0;
  *complete = 0;
  *ierr = Fenix_Data_get_dataset_at_position(position, name, label, complete);
  fill_with_blanks(name);
  fill_with_blanks(label);
}

void fenix_f_dataset_delete(const char* name, int* ierr) { *ierr = Fenix_Data_dataset_delete(name); }

void fenix_f_dataset_set_current(const char* name, int* ierr) { *ierr = Fenix_Data_dataset_set_current(name); }

void fenix_f_need_commit(int group_id, int* flag, int* ierr) {
  *flag = 0;
  *ierr = Fenix_Data_need_commit(group_id, flag);
}

void fenix_f_process_should_halt(int* flag, int* ierr) {
  *flag = 0;
  *ierr = Fenix_Process_should_halt(flag);
}

void fenix_f_process_halt(const char* reason, int* ierr) { *ierr = Fenix_Process_halt(reason); }

void fenix_f_process_get_run(int* run, int* origin, int* ierr) { *ierr = Fenix_Process_get_run(run, origin); }

}  // extern "C"
