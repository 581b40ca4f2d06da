// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/failure_detector.hpp"

#include <chrono>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {
namespace {

constexpr std::chrono::milliseconds kTimeForNotice{500};

}  // namespace

thread_local int FailureDetector::known_repairs_ = 0;

thread_local int FailureDetector::announced_error_ = MPI_SUCCESS;

bool FailureDetector::comes_from_failure(int mpi_error) const {
  if (!use_.ready()) return false;
  if (is_failure(mpi_error)) return true;
  const Deadline deadline(is_vague(mpi_error) ? kTimeForNotice : std::chrono::milliseconds(0));
  do {
    if (process_.comms().look_for_failures() != MPI_SUCCESS) return true;
  } while (!deadline.passed());
  return false;
}

bool FailureDetector::repaired_elsewhere(int repairs_before) const {
  if (process_.repair().count() != repairs_before) return true;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || repairs_before == 0) return false;
  for (const Deadline deadline(kTimeForNotice); !deadline.passed();) {
    if (process_.comms().look_for_failures() != MPI_SUCCESS) return false;
  }
  return true;
}

bool FailureDetector::take_announced(int mpi_error) {
  return std::exchange(announced_error_, MPI_SUCCESS) == mpi_error;
}

}  // namespace fenix_impl
