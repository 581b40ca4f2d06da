// SPDX-License-Identifier: BSD-3-Clause
// Communicators that hold processes which were started at different times.
#pragma once

namespace fenix_impl {

/// Makes MPI_Finalize free them before anything else, those of the application too. Otherwise Open MPI sends a message
/// to each of their processes, the dead ones too, and does not survive the answer. Local; once is enough.
void free_crossing_comms_at_finalize();

}  // namespace fenix_impl
