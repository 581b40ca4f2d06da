// SPDX-License-Identifier: BSD-3-Clause
#include "interposition/job_end.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace fenix_impl {

void abort_job(JobEnd end, int rank, const std::string& why, bool waits) {
  constexpr std::chrono::seconds kTimeForTheOther{3};
  if (waits) std::this_thread::sleep_for(kTimeForTheOther);
  std::fprintf(stderr, "fenix: rank %d: %s\n", rank, why.c_str());
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(end));
  std::abort();
}

}  // namespace fenix_impl
