// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the program's calls for messages, as MPI has them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "interposition/partner.hpp"

namespace fenix_impl {

struct SendCall {
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int destination = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

struct ReceiveCall {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int source = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

struct ProbeCall {
  int source = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool waits = false;  ///< until there is a message
};

/// Returns the partner of a call. comm_id: number of its communicator.
[[nodiscard]] inline Partner partner_of(const SendCall& call, std::uint64_t comm_id) {
  return {call.comm, comm_id, call.destination, call.tag};
}
[[nodiscard]] inline Partner partner_of(const ReceiveCall& call, std::uint64_t comm_id) {
  return {call.comm, comm_id, call.source, call.tag};
}

/// The bytes of a message in the log. Null: it must not be sent.
struct Packed {
  const void* data = nullptr;  ///< valid until the next message, or the buffer of the program
  std::size_t bytes = 0;
  bool is_synchronous = false;  ///< its sender waits until its receive has begun
  std::uint64_t number = 0;     ///< of a synchronous message, if it is logged
};

}  // namespace fenix_impl
