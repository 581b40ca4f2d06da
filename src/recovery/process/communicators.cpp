// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/communicators.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <numeric>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "interposition/interposer.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/derived.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

void Communicators::adopt_first(MPI_Comm world, MPI_Comm resilient) {
  world_ = world;
  take(resilient);
}

void Communicators::adopt_repaired(MPI_Comm world, MPI_Comm resilient) {
  world_ = world;
  if (interposer() == nullptr) {
    replace_handler(handlers_.present, handlers_.stale);
  } else {
    // Not all communicators of the program are recorded: intercommunicators, for example.
    for_each_communicator([this](MPI_Comm comm) {
      if (has_handler(comm, handlers_.present)) interposer()->note_stale(comm);
    });
  }
  take(resilient);
  if (interposer() != nullptr && resilient_ != MPI_COMM_NULL) interposer()->adopt(resilient_, handlers_.present);
}

// The old communicator is not freed: the application may have copies of the handle, and requests on it.
void Communicators::take(MPI_Comm resilient) {
  resilient_ = resilient;
  if (resilient_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(resilient_, handlers_.present);
}

MPI_Comm Communicators::name() const { return interposer() != nullptr ? interposer()->name() : resilient_; }

MPI_Group Communicators::group_of(const std::vector<int>& ranks) const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(resilient_, &all), "MPI_Comm_group");
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

std::vector<int> Communicators::ranks_of(MPI_Comm comm) const {
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  constexpr const char* kStale = "comm is from before a repair: derive it again";
  if (has_handler(comm, handlers_.stale)) throw Error(FENIX_ERROR_INVALID_ARGUMENT, kStale);
  if (is_revoked(comm)) {
    // A repair revokes it that is just beginning, which shows on the resilient communicator, too. Or the program did, or has given a
    // communicator from before a repair another handler.
    for (const Deadline deadline(kNoticeTakes); !deadline.passed();) {
      if (look_for_failures() != MPI_SUCCESS) throw PeerFailure(MPIX_ERR_REVOKED);
    }
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, kStale);
  }
  // Translation is skipped where it can be: Open MPI compares each rank with each.
  if (comm == resilient_) {
    std::vector<int> all(static_cast<std::size_t>(size_of(resilient_)));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &theirs), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(resilient_, &ours), "MPI_Comm_group");
  int size = 0;
  MPI_Group_size(theirs, &size);
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group_translate_ranks(theirs, size, numbers.data(), ours, ranks.data());
  MPI_Group_free(&theirs);
  MPI_Group_free(&ours);
  if (std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is not a resilient communicator, or is one from before a repair");
  }
  return ranks;
}

int Communicators::look_for_failures() const {
  // Looks on world: messages of the application on the resilient communicator are left alone. Errors show below.
  make_progress(world_);
  // A repair revokes both. If world was the first, probes on it make no progress any more, and the other one would never show.
  if (is_revoked(resilient_) || is_revoked(world_)) return MPIX_ERR_REVOKED;
  return known_failed(resilient_).empty() ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
}

void Communicators::call_all_to_repair() {
  revoke(resilient_);
  revoke_derived(handlers_.present, resilient_);
  revoke(world_);
  watch_.ring();
}

void Communicators::end() {
  replace_handler(handlers_.present, MPI_ERRORS_RETURN);
  replace_handler(handlers_.stale, MPI_ERRORS_RETURN);
  free_comm(world_);
}

}  // namespace fenix_impl
