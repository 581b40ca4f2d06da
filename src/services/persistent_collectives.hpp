// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on persistent communicators: ranks store their contributions, and a rank that has failed restores the result.
#pragma once

#include "interposition/collective.hpp"

namespace fenix_impl {

/// Does a collective operation, as PersistServices::collective says.
int persist_collective(const Collective& call, bool delivers, int* executes);

}  // namespace fenix_impl
