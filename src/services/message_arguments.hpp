// SPDX-License-Identifier: BSD-3-Clause
// Arguments of calls for messages, and the ways between a buffer of the program and the bytes of a message.
#pragma once

#include <mpi.h>

#include "messages/persistent/persistence.hpp"
#include "rma/element_type.hpp"

namespace fenix_impl {

/// Throw MpiError if an argument is wrong. No greater tag is refused: the library has those behind MPI_TAG_UB.
void check_tag(int tag);
void check_source(MPI_Comm now, int source, int tag);

/// Returns the bytes of a message that is in a buffer. The description and the buffer have to outlive it.
[[nodiscard]] Payload payload_of(const void* buffer, int count, const ElementType& elements);
/// Reads a message into a buffer. Returns false if it has been replaced meanwhile, or is damaged in all places. Throws PeerFailure.
[[nodiscard]] bool take(const StoredMessage& message, const ElementType& elements, void* buffer);

}  // namespace fenix_impl
