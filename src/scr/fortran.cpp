// SPDX-License-Identifier: BSD-3-Clause
// The external subroutines that Fortran calls: names in lower case with an underscore, the lengths of texts behind all other arguments.
// Some compilers pass lengths as int, others as size_t. Both are read as int: each has a register or a place of its own on the stack.
#include <mpi.h>
#include <scr.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

/// Texts of Fortran end with spaces.
std::string text_of(const char* text, int length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return {text, static_cast<std::size_t>(std::max(length, 0))};
}

/// Copies a text, and fills the rest with spaces. Returns whether it had room.
bool put_text(const char* text, char* to, int length) {
  const std::size_t bytes = std::strlen(text);
  const auto room = static_cast<std::size_t>(std::max(length, 0));
  std::memset(to, ' ', room);
  std::memcpy(to, text, std::min(bytes, room));
  return bytes <= room;
}

using NameBuffer = std::array<char, SCR_MAX_FILENAME>;

/// Gives the name to Fortran, if the call that has written it succeeded.
int named(int code, const NameBuffer& name, char* to, int length) {
  if (code != SCR_SUCCESS) return code;
  return put_text(name.data(), to, length) ? SCR_SUCCESS : SCR_FAILURE;
}

/// The communicator of SCR_Init_comm. Fortran gets its handle when it asks: see scr_get_comm_.
MPI_Comm& comm_of_fortran() {
  static MPI_Comm comm = MPI_COMM_NULL;
  return comm;
}

}  // namespace

extern "C" {

void scr_init_(int* ierror) { *ierror = SCR_Init(); }

void scr_init_comm_(int* comm, int* ierror) {
  *ierror = SCR_Init_comm(&comm_of_fortran());
  *comm = MPI_Comm_c2f(comm_of_fortran());
}

void scr_get_comm_(int* comm, int* ierror) {
  *comm = MPI_Comm_c2f(comm_of_fortran());
  *ierror = SCR_SUCCESS;
}

void scr_finalize_(int* ierror) { *ierror = SCR_Finalize(); }

void scr_get_version_(char* version, int* ierror, int length) {
  *ierror = put_text(SCR_Get_version(), version, length) ? SCR_SUCCESS : SCR_FAILURE;
}

void scr_config_(const char* config, char* value, int* ierror, int config_length, int value_length) {
  const char* const found = SCR_Config(text_of(config, config_length).c_str());
  *ierror = put_text(found != nullptr ? found : "", value, value_length) ? SCR_SUCCESS : SCR_FAILURE;
  std::free(const_cast<char*>(found));
}

void scr_should_exit_(int* flag, int* ierror) { *ierror = SCR_Should_exit(flag); }

void scr_route_file_(const char* name, char* file, int* ierror, int name_length, int file_length) {
  NameBuffer path{};
  const int code = SCR_Route_file(text_of(name, name_length).c_str(), path.data());
  *ierror = named(code, path, file, file_length);
}

void scr_have_restart_(int* flag, char* name, int* ierror, int length) {
  NameBuffer given{};
  *flag = 0;
  const int code = SCR_Have_restart(flag, given.data());
  *ierror = *flag != 0 ? named(code, given, name, length) : code;
}

void scr_start_restart_(char* name, int* ierror, int length) {
  NameBuffer given{};
  const int code = SCR_Start_restart(given.data());
  *ierror = named(code, given, name, length);
}

void scr_complete_restart_(const int* valid, int* ierror) { *ierror = SCR_Complete_restart(*valid); }

void scr_need_checkpoint_(int* flag, int* ierror) { *ierror = SCR_Need_checkpoint(flag); }

void scr_start_output_(const char* name, const int* flags, int* ierror, int length) {
  *ierror = SCR_Start_output(text_of(name, length).c_str(), *flags);
}

void scr_complete_output_(const int* valid, int* ierror) { *ierror = SCR_Complete_output(*valid); }

void scr_start_checkpoint_(int* ierror) { *ierror = SCR_Start_checkpoint(); }

void scr_complete_checkpoint_(const int* valid, int* ierror) { *ierror = SCR_Complete_checkpoint(*valid); }

void scr_current_(const char* name, int* ierror, int length) { *ierror = SCR_Current(text_of(name, length).c_str()); }

void scr_drop_(const char* name, int* ierror, int length) { *ierror = SCR_Drop(text_of(name, length).c_str()); }

void scr_delete_(const char* name, int* ierror, int length) { *ierror = SCR_Delete(text_of(name, length).c_str()); }

}  // extern "C"
