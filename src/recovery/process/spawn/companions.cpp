// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/spawn/companions.hpp"

#include <algorithm>

#include "recovery/process/comm_functions.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

constexpr int kFirstDeathTag = 16;  // for rank 0; that of rank n is n larger

/// Returns a tag that the program has no reason to take: MPI_COMM_WORLD is its own.
int tag_that_nobody_sends() {
  int* greatest = nullptr;
  int there = 0;
  const int error = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &there);
  constexpr int kLeast = 32767;  // that MPI_TAG_UB may have
  return (error == MPI_SUCCESS && there != 0 ? *greatest : kLeast) - 15;
}

/// Whether the process of a receive has died.
bool has_died(int rank, MPI_Request& receive) {
  // MPI may still have it when nobody watches any more.
  static char nothing = 0;
  if (receive == MPI_REQUEST_NULL) {
    return is_failure(MPI_Irecv(&nothing, 0, MPI_BYTE, rank, tag_that_nobody_sends(), MPI_COMM_WORLD, &receive));
  }
  int done = 0;
  return is_failure(MPI_Test(&receive, &done, MPI_STATUS_IGNORE));
}

void tell(int rank, MPI_Comm recruiter) {
  static char nothing = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  // A recruiter that has died is noticed by those that wait for its words.
  if (MPI_Isend(&nothing, 0, MPI_BYTE, 0, kFirstDeathTag + rank, recruiter, &request) == MPI_SUCCESS)
    MPI_Request_free(&request);
}

}  // namespace

CompanionWatch::CompanionWatch(MPI_Comm recruiter) : recruiter_(recruiter), quiet_(MPI_COMM_WORLD) {
  const int self = rank_in(MPI_COMM_WORLD);
  for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) {
    if (rank != self) living_.emplace_back(rank, MPI_REQUEST_NULL);
  }
}

CompanionWatch::~CompanionWatch() {
  for (auto& [rank, receive] : living_) {
    if (receive == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Cancel(&receive);
    if (MPI_Test(&receive, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) MPI_Request_free(&receive);
  }
}

void CompanionWatch::look() {
  std::erase_if(living_, [this](auto& each) {
    if (!has_died(each.first, each.second)) return false;
    tell(each.first, recruiter_);
    return true;
  });
}

std::vector<int> told_deaths(MPI_Comm children, int count) {
  std::vector<int> dead;
  for (int child = 0; child < count; ++child) {
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(child, MPI_ANY_TAG, children, &found, &status) != MPI_SUCCESS) dead.push_back(child);
    if (found == 0 || status.MPI_TAG < kFirstDeathTag) continue;
    if (MPI_Recv(nullptr, 0, MPI_BYTE, child, status.MPI_TAG, children, MPI_STATUS_IGNORE) == MPI_SUCCESS)
      dead.push_back(status.MPI_TAG - kFirstDeathTag);
  }
  return dead;
}

}  // namespace fenix_impl
