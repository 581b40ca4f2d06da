// SPDX-License-Identifier: BSD-3-Clause
// Messages for which nothing but counting is to be done.
#pragma once

#include <mpi.h>

#include "interposition/message_counters.hpp"

namespace fenix_impl {

/// Return what may be done here with the next message to or from a rank; nothing is allowed if libfenix has to do it. Valid as long as
/// fast_path_generation() is the same.
FastSend fast_send(int dest, int tag, MPI_Comm comm);
FastReceive fast_receive(int source, int tag, MPI_Comm comm);
/// Changes when counters must not be used any more.
unsigned fast_path_generation();

}  // namespace fenix_impl
