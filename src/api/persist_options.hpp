// SPDX-License-Identifier: BSD-3-Clause
// The info of MPI_Comm_persist.
#pragma once

#include <mpi.h>

#include "recovery/persistence.hpp"

namespace fenix_impl {

/// Returns the options that info names. Unknown keys are ignored. Throws MpiError(MPI_ERR_INFO_VALUE), which names key and value.
[[nodiscard]] PersistOptions persist_options(MPI_Info info);

/// Returns the options that FENIX_PERSIST_VOLUME and FENIX_PERSIST_COPIES name.
[[nodiscard]] PersistOptions persist_options_of_environment();
/// Returns those that FENIX_MLOG_MEMORY and FENIX_MLOG_COPIES name as well.
[[nodiscard]] LogOptions log_options_of_environment();

}  // namespace fenix_impl
