// SPDX-License-Identifier: BSD-3-Clause
#include "services/message_arguments.hpp"

#include <string>

#include "base/scratch.hpp"
#include "services/mpi_entry.hpp"

namespace fenix_impl {

void check_tag(int tag) {
  if (tag < 0) throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(tag) + " is out of range");
}

Payload payload_of(const void* buffer, int count, const ElementType& elements) {
  Payload payload;
  payload.bytes = static_cast<std::size_t>(count) * elements.bytes();
  if (elements.contiguous()) {
    payload.data = {static_cast<const std::byte*>(buffer), payload.bytes};
  } else {
    // Two words have room in the function itself: nothing is allocated.
    payload.pack = [buffer, &elements](std::span<std::byte> to) {
      elements.pack(buffer, 0, to.size() / elements.bytes(), to.data());
    };
  }
  return payload;
}

void check_source(MPI_Comm now, int source, int tag) {
  if (source != MPI_ANY_SOURCE) check_rank(now, source, "source");
  if (tag != MPI_ANY_TAG) check_tag(tag);
}

bool take(const StoredMessage& message, const ElementType& elements, void* buffer) {
  const std::size_t bytes = message.entry.head.bytes;
  Persistence& persistence = runtime().persistence();
  if (elements.contiguous() && persistence.stays(message)) {
    return persistence.read(message, {static_cast<std::byte*>(buffer), bytes});
  }
  // Through memory of its own: a message that is replaced meanwhile must not leave half of itself.
  const Scratch scratch(bytes);
  if (!persistence.read(message, scratch.bytes())) return false;
  unpack_part(elements, scratch.bytes(), 0, buffer);
  return true;
}

}  // namespace fenix_impl
