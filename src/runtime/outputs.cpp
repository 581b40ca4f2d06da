// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/outputs.hpp"

#include "runtime/failure_detector.hpp"

namespace fenix_impl {

void OutputPlaces::write() const {
  FailureDetector::note_known(process_.repair().count());
  if (outputs_.role != nullptr) *outputs_.role = process_.members().role();
  if (outputs_.comm != nullptr) *outputs_.comm = process_.comms().name();
  if (outputs_.error != nullptr) *outputs_.error = process_.repair().outcome();
  if (fortran_comm_ != nullptr) *fortran_comm_ = MPI_Comm_c2f(process_.comms().name());
}

}  // namespace fenix_impl
