// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/derived.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "interposition/interposer.hpp"
#include "rma/freeing.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"

namespace fenix_impl {
namespace {

// The library knows communicators only as the numbers that Fortran programs would use for them. Open MPI gives every
// communicator the lowest free number, so a long run of unused numbers is the end.
constexpr MPI_Fint kUnusedRun = 4096;

// Key of the attribute of outsiders. A duplicate gets it from its original.
int outsider_key() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    return key;
  }();
  return made;
}

bool is_outsider(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  return MPI_Comm_get_attr(comm, outsider_key(), &value, &found) != MPI_SUCCESS || found != 0;
}

// Frees the group.
bool is_within(MPI_Group some, MPI_Comm whole) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(whole, &all);
  int size = 0;
  MPI_Group_size(some, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> known(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group_translate_ranks(some, size, ranks.data(), all, known.data());
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return std::find(known.begin(), known.end(), MPI_UNDEFINED) == known.end();
}

bool is_between_groups(MPI_Comm comm) {
  int flag = 0;
  return MPI_Comm_test_inter(comm, &flag) == MPI_SUCCESS && flag != 0;
}

// Nobody waits for another process on a communicator of one.
bool may_be_derived(MPI_Comm comm, MPI_Comm resilient) {
  if (resilient == MPI_COMM_NULL || interposer() != nullptr || !has_handler(comm, MPI_ERRORS_RETURN)) return false;
  if (size_of(comm) < 2 && !is_between_groups(comm)) return false;
  return !is_outsider(comm) && has_only_processes_of(comm, resilient);
}

}  // namespace

bool has_only_processes_of(MPI_Comm comm, MPI_Comm whole) {
  MPI_Group near = MPI_GROUP_NULL;
  MPI_Group far = MPI_GROUP_NULL;
  if (MPI_Comm_group(comm, &near) != MPI_SUCCESS || !is_within(near, whole)) return false;
  if (!is_between_groups(comm)) return true;
  return MPI_Comm_remote_group(comm, &far) == MPI_SUCCESS && is_within(far, whole);
}

bool has_handler(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool same = handler == wanted;
  MPI_Errhandler_free(&handler);
  return same;
}

void for_each_communicator(const std::function<void(MPI_Comm)>& visit) {
  const std::lock_guard nobody_frees(freeing_mutex());
  MPI_Fint unused = 0;
  for (MPI_Fint number = 0; unused < kUnusedRun; ++number) {
    MPI_Comm comm = MPI_Comm_f2c(number);
    unused = comm == nullptr ? unused + 1 : 0;
    if (comm == nullptr || comm == MPI_COMM_NULL || comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD) continue;
    visit(comm);
  }
}

void note_outsiders() {
  const QuietComm quiet_world(MPI_COMM_WORLD);
  const QuietComm quiet_self(MPI_COMM_SELF);
  for_each_communicator([](MPI_Comm comm) { MPI_Comm_set_attr(comm, outsider_key(), nullptr); });
  MPI_Comm_set_attr(MPI_COMM_WORLD, outsider_key(), nullptr);
}

void replace_handler(MPI_Errhandler from, MPI_Errhandler to) {
  // Errors about a communicator that is being freed come to these two communicators.
  const QuietComm quiet_world(MPI_COMM_WORLD);
  const QuietComm quiet_self(MPI_COMM_SELF);
  for_each_communicator([&](MPI_Comm comm) {
    if (has_handler(comm, from)) MPI_Comm_set_errhandler(comm, to);
  });
}

void revoke_derived(MPI_Errhandler inherited, MPI_Comm resilient) {
  const QuietComm quiet_world(MPI_COMM_WORLD);
  const QuietComm quiet_self(MPI_COMM_SELF);
  for_each_communicator([&](MPI_Comm comm) {
    int revoked = 0;
    if (!has_handler(comm, inherited) && !may_be_derived(comm, resilient)) return;
    if (MPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked == 0) MPIX_Comm_revoke(comm);
  });
}

}  // namespace fenix_impl
