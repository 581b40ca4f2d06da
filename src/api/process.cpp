// SPDX-License-Identifier: BSD-3-Clause
// Failures, roles and callbacks.
#include <fenix.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/entry.hpp"
#include "recovery/interposer.hpp"

using namespace fenix_impl;

namespace {

/// Gets the roles of the ranks of a communicator derived from the resilient one.
std::vector<int> roles_in(MPI_Comm comm) {
  std::vector<int> roles = runtime().process().ranks_of(present(comm));
  const auto& by_rank = runtime().process().roles();
  std::transform(roles.begin(), roles.end(), roles.begin(),
                 [&](int rank) { return by_rank.at(static_cast<std::size_t>(rank)); });
  return roles;
}

}  // namespace

extern "C" {

int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  return ready_entry([&]() -> int {
    if (recover == nullptr) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover is NULL");
    runtime().callbacks.push([=](MPI_Comm comm, int error) { recover(comm, error, callback_data); });
    return FENIX_SUCCESS;
  });
}

int Fenix_Callback_pop(void) {
  return ready_entry([]() -> int {
    if (!runtime().callbacks.pop()) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "no callback is registered");
    return FENIX_SUCCESS;
  });
}

int Fenix_Callback_invoke_all(void) {
  int failure = MPI_SUCCESS;
  const int code = ready_entry([&]() -> int {
    if (runtime().process().repairs() == 0) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "there was no repair");
    failure = runtime().latest_failure();
    return FENIX_SUCCESS;
  });
  // Outside of entry(), because callbacks may call Fenix, and may throw.
  if (code == FENIX_SUCCESS) runtime().run_callbacks(failure);
  return code;
}

Fenix_Rank_role Fenix_get_role(void) { return static_cast<Fenix_Rank_role>(runtime().process().role()); }

int Fenix_get_error(void) {
  return ready_entry([]() -> int { return runtime().error(); });
}

int Fenix_get_nspare(void) {
  return ready_entry([]() -> int { return runtime().process().waiting_spares(); });
}

int Fenix_Get_role(MPI_Comm comm, int rank, int* role) {
  return ready_entry([&]() -> int {
    require(role, "role");
    const auto roles = roles_in(comm);
    if (rank < 0 || rank >= static_cast<int>(roles.size())) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "rank " + std::to_string(rank) + " is not in comm");
    }
    *role = roles[static_cast<std::size_t>(rank)];
    return FENIX_SUCCESS;
  });
}

int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks) {
  return ready_entry([&]() -> int {
    require(number_of_ranks, "number_of_ranks");
    if (role < FENIX_ROLE_INITIAL_RANK || role > FENIX_ROLE_SPARE_RANK) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role " + std::to_string(role) + " does not exist");
    }
    const auto roles = roles_in(comm);
    *number_of_ranks = static_cast<int>(std::count(roles.begin(), roles.end(), role));
    return FENIX_SUCCESS;
  });
}

int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role) { return Fenix_Get_role(comm, rank, role); }

int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks) {
  return Fenix_Get_number_of_ranks_with_role(runtime().process().name(), role, number_of_ranks);
}

int Fenix_Process_fail_list(int** fail_list) {
  return ready_entry([&]() -> int {
    require(fail_list, "fail_list");
    const auto& failed = runtime().process().failed();
    // The library owns the array. The signature has no const, because it is that of the current Fenix.
    *fail_list = const_cast<int*>(failed.data());
    return static_cast<int>(failed.size());
  });
}

int Fenix_Process_repair_times(double* noticed, double* repaired) {
  return ready_entry([&]() -> int {
    require(noticed, "noticed");
    require(repaired, "repaired");
    if (runtime().process().repairs() == 0) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "there was no repair");
    *noticed = runtime().process().noticed();
    *repaired = runtime().process().repaired();
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_detect_failures(int do_recovery) {
  int mpi_error = MPI_SUCCESS;
  const int code = ready_entry([&]() -> int {
    mpi_error = runtime().process().look_for_failures();
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS) return code;
  if (mpi_error == MPI_SUCCESS || do_recovery == 0) return mpi_error;
  runtime().on_mpi_error(mpi_error);
  return mpi_error;
}

int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status) {
  return ready_entry([&]() -> int {
    require(request, "request");
    int done = 0;
    const int mpi_error = MPI_Test(request, &done, status);
    return mpi_error != MPI_SUCCESS || done == 0 ? 1 : 0;
  });
}

}  // extern "C"
