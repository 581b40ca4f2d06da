// SPDX-License-Identifier: BSD-3-Clause
// Small messages between a recruiter and the processes that it has spawned.
#pragma once

#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/deadline.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

/// Small messages to and from several ranks; each wait for them has an end.
class Mail {
 public:
  explicit Mail(MPI_Comm comm) : comm_(comm) {}

  void receive(void* data, int bytes, int from, int tag) {
    check_mpi(MPI_Irecv(data, bytes, MPI_BYTE, from, tag, comm_, &requests_.emplace_back()), "MPI_Irecv");
  }
  void send(const void* data, int bytes, int to, int tag) {
    check_mpi(MPI_Isend(data, bytes, MPI_BYTE, to, tag, comm_, &requests_.emplace_back()), "MPI_Isend");
  }

  /// Waits for all, and calls look meanwhile, which may throw. If it throws, MPI may still use the buffers.
  template <class Look>
  void wait(const char* waited_for, const Deadline& deadline, const Look& look) {
    constexpr std::chrono::microseconds kNap{100};
    for (MPI_Request& request : requests_) {
      for (int done = 0; done == 0;) {
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), waited_for);
        if (done != 0) break;
        deadline.check(waited_for);
        look();
        // New processes need the processor to get up.
        std::this_thread::sleep_for(kNap);
      }
    }
    requests_.clear();
  }
  void wait(const char* waited_for, const Deadline& deadline = Deadline()) {
    wait(waited_for, deadline, [] {});
  }

 private:
  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
};

}  // namespace fenix_impl
