// SPDX-License-Identifier: BSD-3-Clause
// Failures, roles and callbacks.
#include <fenix.h>
#include <mpi-ext.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interposition/interposer.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace {

/// Gets the roles of the ranks of a communicator derived from the resilient one.
std::vector<int> roles_in(MPI_Comm comm) {
  std::vector<int> roles = runtime().process().comms().ranks_of(present(comm));
  const auto& by_rank = runtime().process().members().roles();
  std::transform(roles.begin(), roles.end(), roles.begin(),
                 [&](int rank) { return by_rank.at(static_cast<std::size_t>(rank)); });
  return roles;
}

/// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if there is no such location.
Fenix_Callback_location location_of(int location) {
  if (location != FENIX_CALLBACK_PRE_RECOVERY && location != FENIX_CALLBACK_POST_RECOVERY) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "location " + std::to_string(location) + " does not exist");
  }
  return static_cast<Fenix_Callback_location>(location);
}

void require_role(int role) {
  if (role < FENIX_ROLE_INITIAL_RANK || role > FENIX_ROLE_MISSING_RANK) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role " + std::to_string(role) + " does not exist");
  }
}

/// Returns the rank in the resilient communicator of a rank of a communicator derived from it.
int rank_of(MPI_Comm comm, int rank) {
  const auto ranks = runtime().process().comms().ranks_of(present(comm));
  if (rank < 0 || rank >= static_cast<int>(ranks.size())) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "rank " + std::to_string(rank) + " is not in comm");
  }
  return ranks[static_cast<std::size_t>(rank)];
}

/// Repairs a failure without leaving the call. Returns false if all ranks have to go back.
bool repair_inline(int mpi_error) {
  const Runtime::RepeatedCall repeated;
  runtime().failures().on_mpi_error(mpi_error);
  return runtime().policy().repeats_calls();
}

}  // namespace

extern "C" {

int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  return Fenix_Callback_register_at(recover, callback_data, FENIX_CALLBACK_POST_RECOVERY);
}

int Fenix_Callback_register_at(void (*recover)(MPI_Comm, int, void*), void* callback_data, int location) {
  return ready_entry([&]() -> int {
    if (recover == nullptr) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover is NULL");
    runtime().callbacks().push(location_of(location),
                               [=](MPI_Comm comm, int error) { recover(comm, error, callback_data); });
    return FENIX_SUCCESS;
  });
}

int fenix_detail_callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  return ready_entry([&]() -> int {
    if (recover == nullptr) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover is NULL");
    runtime().callbacks().push(FENIX_CALLBACK_POST_RECOVERY, [=](MPI_Comm comm, int /*mpi_error*/) {
      recover(comm, runtime().process().repair().outcome(), callback_data);
    });
    return FENIX_SUCCESS;
  });
}

int Fenix_Callback_pop(void) { return Fenix_Callback_pop_at(FENIX_CALLBACK_POST_RECOVERY); }

int Fenix_Callback_pop_at(int location) {
  return ready_entry([&]() -> int {
    if (!runtime().callbacks().pop(location_of(location))) {
      throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "no callback is registered");
    }
    return FENIX_SUCCESS;
  });
}

int Fenix_Callback_invoke_all(void) { return Fenix_Callback_invoke_all_at(FENIX_CALLBACK_POST_RECOVERY); }

int Fenix_Callback_invoke_all_at(int location) {
  int failure = MPI_SUCCESS;
  const int code = ready_entry([&]() -> int {
    (void)location_of(location);
    if (runtime().process().repair().count() == 0) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "there was no repair");
    failure = runtime().failures().latest();
    return FENIX_SUCCESS;
  });
  // Outside of entry(), because callbacks may call Fenix, and may throw.
  if (code == FENIX_SUCCESS) runtime().continuation().run_callbacks(location_of(location), failure);
  return code;
}

Fenix_Rank_role Fenix_get_role(void) { return static_cast<Fenix_Rank_role>(runtime().process().members().role()); }

int Fenix_get_error(void) {
  return ready_entry([]() -> int { return runtime().process().repair().outcome(); });
}

int Fenix_get_nspare(void) {
  return ready_entry(
      []() -> int { return runtime().process().members().waiting_spares(runtime().process().comms().world()); });
}

int Fenix_Get_role(MPI_Comm comm, int rank, int* role) {
  return ready_entry([&]() -> int {
    require(role, "role");
    *role = runtime().process().members().roles().at(static_cast<std::size_t>(rank_of(comm, rank)));
    return FENIX_SUCCESS;
  });
}

int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks) {
  return ready_entry([&]() -> int {
    require(number_of_ranks, "number_of_ranks");
    require_role(role);
    const auto roles = roles_in(comm);
    *number_of_ranks = static_cast<int>(std::count(roles.begin(), roles.end(), role));
    return FENIX_SUCCESS;
  });
}

int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role) { return Fenix_Get_role(comm, rank, role); }

int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks) {
  return ready_entry([&]() -> int {
    require(number_of_ranks, "number_of_ranks");
    require_role(role);
    const Process& process = runtime().process();
    const auto& roles = process.members().roles();
    *number_of_ranks = static_cast<int>(std::count(roles.begin(), roles.end(), role));
    if (role == FENIX_ROLE_SPARE_RANK) *number_of_ranks = process.members().waiting_spares(process.comms().world());
    if (role == FENIX_ROLE_MISSING_RANK)
      *number_of_ranks = process.members().slots().number() - static_cast<int>(roles.size());
    return FENIX_SUCCESS;
  });
}

int Fenix_get_slot(void) {
  return ready_entry([]() -> int {
    const Process& process = runtime().process();
    int rank = 0;
    MPI_Comm_rank(process.comms().resilient(), &rank);
    return process.members().slots().by_rank().at(static_cast<std::size_t>(rank));
  });
}

int Fenix_rank_to_slot(MPI_Comm comm, int rank, int* slot) {
  return ready_entry([&]() -> int {
    require(slot, "slot");
    *slot = runtime().process().members().slots().by_rank().at(static_cast<std::size_t>(rank_of(comm, rank)));
    return FENIX_SUCCESS;
  });
}

int Fenix_slot_to_rank(MPI_Comm comm, int slot, int* rank) {
  return ready_entry([&]() -> int {
    require(rank, "rank");
    const Process& process = runtime().process();
    const auto ranks = process.comms().ranks_of(present(comm));
    if (slot < 0 || slot >= process.members().slots().number()) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "slot " + std::to_string(slot) + " does not exist");
    }
    const auto found = std::find(ranks.begin(), ranks.end(), process.members().slots().rank_of(slot));
    *rank = found == ranks.end() ? MPI_UNDEFINED : static_cast<int>(found - ranks.begin());
    return FENIX_SUCCESS;
  });
}

int Fenix_repair_group(MPI_Group old_group, MPI_Group* new_group) {
  return ready_entry([&]() -> int {
    require(new_group, "new_group");
    if (old_group == MPI_GROUP_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "old_group is MPI_GROUP_NULL");
    *new_group = runtime().process().members().slots().repair(old_group);
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_fail_list(int** fail_list) {
  return ready_entry([&]() -> int {
    require(fail_list, "fail_list");
    const auto& failed = runtime().process().members().failed();
    // The library owns the array. The signature has no const, because it is that of the current Fenix.
    *fail_list = const_cast<int*>(failed.data());
    return static_cast<int>(failed.size());
  });
}

int Fenix_Process_repair_times(double* noticed, double* repaired) {
  return ready_entry([&]() -> int {
    require(noticed, "noticed");
    require(repaired, "repaired");
    if (runtime().process().repair().count() == 0) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "there was no repair");
    *noticed = runtime().process().repair().noticed();
    *repaired = runtime().process().repair().repaired();
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_detect_failures(int do_recovery) {
  int mpi_error = MPI_SUCCESS;
  const int code = ready_entry([&]() -> int {
    mpi_error = runtime().process().comms().look_for_failures();
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS || mpi_error == MPI_SUCCESS) return code;
  if (do_recovery != 0 && runtime().policy().repeats_calls()) {
    if (repair_inline(mpi_error)) return FENIX_SUCCESS;
    runtime().continuation().leave(mpi_error);
  } else if (do_recovery != 0) {
    runtime().failures().on_mpi_error(mpi_error);
  }
  return report(FENIX_ERROR_PROCESS_FAILURE, "a rank has died");
}

int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status) {
  // MPI may have to make progress before it knows that the request has ended.
  constexpr int kTests = 100;
  return ready_entry([&]() -> int {
    require(request, "request");
    int done = 0;
    int mpi_error = MPI_SUCCESS;
    for (int i = 0; i < kTests && done == 0 && mpi_error == MPI_SUCCESS; ++i) {
      mpi_error = MPI_Test(request, &done, status);
    }
    int error_class = MPI_SUCCESS;
    MPI_Error_class(mpi_error, &error_class);
    return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED ? 1 : 0;
  });
}

}  // extern "C"
