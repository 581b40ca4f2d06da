// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/comm_functions.hpp"

#include <mpi-ext.h>

#include <numeric>

#include "base/deadline.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm, color, key, &part), "MPI_Comm_split");
  return part;
}

void free_comm(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  MPIX_Comm_is_revoked(comm, &revoked);
  return revoked != 0;
}

void revoke(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && !is_revoked(comm)) MPIX_Comm_revoke(comm);
}

std::vector<int> known_failed(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (MPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return {};
  MPI_Comm_group(comm, &all);
  int count = 0;
  MPI_Group_size(failed, &count);
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (count > 0) MPI_Group_translate_ranks(failed, count, numbers.data(), all, ranks.data());
  MPI_Group_free(&failed);
  MPI_Group_free(&all);
  return ranks;
}

void make_progress(MPI_Comm comm) {
  // A tag that no message has: a probe that finds a message returns at once, without making progress for anything else.
  constexpr int kNoTag = 0;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, kNoTag, comm, &found, MPI_STATUS_IGNORE);
}

bool comes_to_know_failure(MPI_Comm comm) {
  for (const Deadline deadline(kNoticeTakes); !deadline.passed();) {
    make_progress(comm);
    if (is_revoked(comm) || !known_failed(comm).empty()) return true;
  }
  return false;
}

}  // namespace fenix_impl
