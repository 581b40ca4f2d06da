// SPDX-License-Identifier: BSD-3-Clause
#include "waits.hpp"

#include <mpi.h>

#include <optional>

namespace bench {

namespace {

/// A whole number among MPI's variables of control.
std::optional<int> variable(const char* name) {
  int index = 0;
  int count = 0;
  int value = 0;
  MPI_T_cvar_handle handle = nullptr;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  const bool is_read = count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return is_read ? std::optional(value) : std::nullopt;
}

std::string text_of_variables() {
  const auto idle = variable("mpi_yield_when_idle");
  if (!idle) return "unknown";
  if (*idle == 0) return "spin";
  // 0: sched_yield, 1: nanosleep
  return variable("threads_pthreads_yield_strategy") == 1 ? "sleep" : "yield";
}

}  // namespace

std::string waits_of_mpi() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return "unknown";
  const std::string text = text_of_variables();
  MPI_T_finalize();
  return text;
}

}  // namespace bench
