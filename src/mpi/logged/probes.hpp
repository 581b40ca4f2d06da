// SPDX-License-Identifier: BSD-3-Clause
// Messages that a probe has matched for MPI_Mrecv, where messages are logged.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Whether a message was matched by such a probe, and not received yet.
bool is_logged_message(MPI_Message message);
/// Whether there is such a message on a communicator.
bool has_matched_on(MPI_Comm comm);
int receive_logged_message(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
int start_logged_message(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);

}  // namespace fenix_impl
