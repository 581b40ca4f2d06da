// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on persistent communicators. The functions themselves are generated: each describes its call, and does it here.
#pragma once

#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/persistent/requests.hpp"

namespace fenix_impl {

/// Stores or restores. executes: whether MPI has to execute it, too. Returns an error of MPI, after the error handler.
int do_collective(const Collective& call, int* executes);

}  // namespace fenix_impl
