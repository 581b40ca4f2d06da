// SPDX-License-Identifier: BSD-3-Clause
// The places where Fenix_Init writes its results, at the start and after each repair.
#pragma once

#include <mpi.h>

#include "recovery/process/process.hpp"

namespace fenix_impl {

/// Each may be null; comm only with libfenix_mpi.
struct Outputs {
  int* role = nullptr;
  MPI_Comm* comm = nullptr;
  int* error = nullptr;
};

class OutputPlaces {
 public:
  /// process must outlive it.
  explicit OutputPlaces(const Process& process) : process_(process) {}

  void set(const Outputs& outputs) { outputs_ = outputs; }
  /// Has the communicator written as a handle of Fortran, too. Null: no more.
  void write_comm_also_to(MPI_Fint* handle) { fortran_comm_ = handle; }
  /// Writes role, communicator and error. This thread knows of all repairs so far.
  void write() const;

 private:
  const Process& process_;
  Outputs outputs_;
  MPI_Fint* fortran_comm_ = nullptr;
};

}  // namespace fenix_impl
