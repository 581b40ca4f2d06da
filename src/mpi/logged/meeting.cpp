// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/meeting.hpp"

#include <fenix_mpi/persistent.h>

#include <cstddef>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/stash.hpp"

namespace fenix_impl {

int meet(MPI_Comm comm, std::vector<std::uint64_t>& words) {
  auto& others = of_thread<std::vector<std::uint64_t>>();
  const int count = static_cast<int>(words.size());
  others.resize(words.size());
  constexpr int kTagOfMeeting = kTagOfCounter + 1;
  const RepeatableCall call;
  int rank = 0;
  int size = 0;
  (void)real.Comm_rank(now(comm), &rank);
  (void)real.Comm_size(now(comm), &size);
  int error = MPI_SUCCESS;
  // After the turn with distance d each rank knows of 2 d ranks before it that they have come.
  for (int distance = 1; distance < size && error == MPI_SUCCESS; distance *= 2) {
    const int source = (rank - distance + size) % size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message stashed = MPI_MESSAGE_NULL;
    error = take_stashed(comm, source, kTagOfMeeting, &stashed)
                ? real.Imrecv(others.data(), count, MPI_UINT64_T, &stashed, requests)
                : real.Irecv(others.data(), count, MPI_UINT64_T, source, kTagOfMeeting, now(comm), requests);
    if (error == MPI_SUCCESS) {
      error = real.Isend(words.data(), count, MPI_UINT64_T, (rank + distance) % size, kTagOfMeeting, now(comm),
                         requests + 1);
    }
    for (MPI_Request& each : requests) {
      if (error == MPI_SUCCESS) error = wait_and_go_on(&each);
      if (error != MPI_SUCCESS && each != MPI_REQUEST_NULL) drain(&each);
    }
    for (std::size_t i = 0; error == MPI_SUCCESS && i < words.size(); ++i) words[i] &= others[i];
  }
  return error;
}

int greatest_of_all(int value, int* greatest, MPI_Comm comm) {
  return left(logged_Allreduce(&value, greatest, 1, MPI_INT, MPI_MAX, comm));
}

}  // namespace fenix_impl
