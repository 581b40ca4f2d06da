// SPDX-License-Identifier: BSD-3-Clause
// Decoding by several ranks: each makes a share of what another one has lost, and writes it there.
#pragma once

#include <cstdint>

#include "core/protection/protection.hpp"
#include "core/protection/set_slots.hpp"

namespace fenix_impl {

/// The place to which a lost slot is written.
struct LostPlace {
  int index = 0;  ///< of the rank, in the redundancy set
  SetSlot slot;
  std::uint64_t parity_bytes = 0;
};

/// Makes a share of the elements and of the parity of a slot from the other slots of the redundancy set. All is in the memory of the rank
/// on return. self: index of this rank. False if the other slots do not suffice. Throws Error(FENIX_ERROR_NO_MEMORY) and
/// std::bad_alloc.
bool decode_share(RemoteRegions& remote, SetSlots& sources, int self, const LostPlace& place, const Share& share);

}  // namespace fenix_impl
