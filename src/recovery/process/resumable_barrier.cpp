// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/resumable_barrier.hpp"

#include <algorithm>
#include <utility>

#include "base/deadline.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

ResumableBarrier::ResumableBarrier(MPI_Comm comm, std::vector<int> members, int tag)
    : comm_(comm), members_(std::move(members)), tag_(tag) {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  self_ = static_cast<std::size_t>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
}

int ResumableBarrier::member(std::size_t offset) const { return members_[(self_ + offset) % members_.size()]; }

void ResumableBarrier::begin_round() {
  if (round_begun_) return;
  const int from = member(members_.size() - distance_);
  check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag_, comm_, &requests_[0]), "MPI_Irecv");
  check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, member(distance_), tag_, comm_, &requests_[1]), "MPI_Isend");
  round_begun_ = true;
}

void ResumableBarrier::wait(const std::function<void()>& check, const char* waited_for) {
  const Deadline deadline;
  for (; distance_ < members_.size(); distance_ *= 2) {
    begin_round();
    for (MPI_Request& request : requests_) {
      for (int done = 0; done == 0;) {
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), waited_for);
        if (done != 0) break;
        check();
        deadline.check(waited_for);
      }
    }
    round_begun_ = false;
  }
}

}  // namespace fenix_impl
