// SPDX-License-Identifier: BSD-3-Clause
// Messages on ordinary communicators that are logged, and outcomes of calls, as libfenix_mpi asks for them.
#pragma once

#include "interposition/interposer.hpp"

namespace fenix_impl {

/// Adds their functions.
void add_logged_messages(PersistServices* services);

}  // namespace fenix_impl
