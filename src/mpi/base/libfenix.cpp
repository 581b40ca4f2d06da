// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/libfenix.hpp"

#include <mpi-ext.h>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

// Functions of libfenix for checkpoints, in place of those for logs. They stay until a log is there.
constinit std::atomic<const PersistServices*> counting_services{nullptr};
constinit std::atomic<unsigned> generation{0};

}  // namespace

constinit std::atomic<bool> logs_messages{false};
constinit std::atomic<bool> is_transparent{false};

const PersistServices* persist_services() {
  if (const PersistServices* counting = counting_services.load(std::memory_order_acquire)) return counting;
  const InterposerServices* services = registry().services;
  return services != nullptr ? services->persist : nullptr;
}

unsigned services_generation() { return generation.load(std::memory_order_acquire); }

void change_services_generation() { generation.fetch_add(1, std::memory_order_acq_rel); }

// Calls that a failure cuts short use the functions to their end.
void count_messages(const PersistServices* services) {
  change_services_generation();
  if (services != nullptr) counting_services.store(services, std::memory_order_release);
  logs_messages.store(services != nullptr, std::memory_order_release);
}

void use_services_of_logs() { counting_services.store(nullptr, std::memory_order_release); }

bool tells_of_failure(int error) {
  int error_class = MPI_SUCCESS;
  if (error == MPI_SUCCESS) return false;
  PMPI_Error_class(error, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED ||
         error_class == MPIX_ERR_PROC_FAILED_PENDING;
}

int raise_on(MPI_Comm comm, int error) {
  if (error == MPI_SUCCESS || tells_of_failure(error)) return error;
  // libfenix has looked whether a death is behind it.
  const InterposerServices* services = registry().services;
  if (services != nullptr) services->announce_error(error);
  real.Comm_call_errhandler(now(comm), error);
  if (services != nullptr) services->announce_error(MPI_SUCCESS);
  return error;
}

}  // namespace fenix_impl
