// SPDX-License-Identifier: BSD-3-Clause
// Messages on persistent communicators, as libfenix_mpi asks for them.
#pragma once

#include "interposition/interposer.hpp"

namespace fenix_impl {

/// Returns the functions, which are there as long as the process.
[[nodiscard]] const PersistServices* persist_services();

}  // namespace fenix_impl
