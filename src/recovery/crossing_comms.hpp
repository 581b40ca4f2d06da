// SPDX-License-Identifier: BSD-3-Clause
// Communicators that hold processes which were started at different times.
#pragma once

namespace fenix_impl {

/// Sees to it that MPI_Finalize frees them before anything else, those of the application too. Open MPI's own way to end them
/// is a message to each of their processes, the dead ones too, and it does not survive the answer. Local; once is enough.
void free_crossing_comms_at_finalize();

}  // namespace fenix_impl
