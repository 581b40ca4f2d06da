// SPDX-License-Identifier: BSD-3-Clause
// Messages that are counted for checkpoints, as libfenix_mpi asks for them.
#pragma once

#include "interposition/interposer.hpp"

namespace fenix_impl {

/// Returns the functions of persist_services(), with those for messages on ordinary communicators replaced.
[[nodiscard]] const PersistServices* counting_services();

}  // namespace fenix_impl
