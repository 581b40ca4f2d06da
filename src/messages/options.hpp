// SPDX-License-Identifier: BSD-3-Clause
// The info of MPI_Comm_persist.
#pragma once

#include <mpi.h>

#include "messages/journal/log_spill.hpp"
#include "messages/persistent/persist_options.hpp"

namespace fenix_impl {

/// Returns the options that info names. Unknown keys are ignored. Throws MpiError(MPI_ERR_INFO_VALUE), which names key and value.
[[nodiscard]] PersistOptions persist_options(MPI_Info info);

/// Returns the options that FENIX_PERSIST_VOLUME and FENIX_PERSIST_COPIES name.
[[nodiscard]] PersistOptions persist_options_of_environment();
/// Returns those that FENIX_MLOG_MEMORY, FENIX_MLOG_COPIES and FENIX_MLOG_COMPARE name as well.
[[nodiscard]] LogOptions log_options_of_environment();
/// Returns where the log goes on when its memory is full, as FENIX_MLOG_SPILL and FENIX_MLOG_SPILL_SIZE name it. Without them: in TMPDIR or
/// /var/tmp, if that is on a disk, with a quarter of its room for all ranks of the node, and 16 GiB at most for each. Throws
/// Error(FENIX_ERROR_INVALID_ARGUMENT) if no files can be made in the folder that is named.
[[nodiscard]] SpillOptions spill_options_of_environment();

}  // namespace fenix_impl
