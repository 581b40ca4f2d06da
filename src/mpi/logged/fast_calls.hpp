// SPDX-License-Identifier: BSD-3-Clause
// Calls of the program for the requests of fast_requests.hpp.
#pragma once

#include <mpi.h>

#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// Begins a receive as the program's MPI_Irecv. Returns false if it is not for here. error: of MPI.
[[nodiscard]] bool begin_fast_receive(const LoggedReceive& receive, MPI_Request* request, int* error);
/// Makes the program's request for a logged message that MPI is sending. Returns false if it is not for here. inner: of MPI.
[[nodiscard]] bool add_fast_send(const Send& send, const Started& started, MPI_Request* request);
/// Do MPI_Wait and MPI_Waitall if all requests are such ones, or null. Return false otherwise, or after a failure: then the
/// requests are not complete, and have to be stand-ins. error: of MPI.
[[nodiscard]] bool wait_fast(MPI_Request* request, MPI_Status* status, int* error);
[[nodiscard]] bool wait_fast_for_all(int count, MPI_Request* requests, MPI_Status* statuses, int* error);

}  // namespace fenix_impl
