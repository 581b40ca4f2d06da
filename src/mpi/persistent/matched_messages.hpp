// SPDX-License-Identifier: BSD-3-Clause
// Messages that were stored, and that a probe has matched for MPI_Mrecv.
#pragma once

#include <mpi.h>

#include "interposition/message_calls.hpp"

namespace fenix_impl {

/// Matches a message that was stored, for MPI_Mrecv. flag: whether there is one.
int match_stored(const ProbeCall& call, int* flag, MPI_Message* message, MPI_Status* status);

}  // namespace fenix_impl
