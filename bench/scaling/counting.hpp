// SPDX-License-Identifier: BSD-3-Clause
// Counts the calls of MPI by this process. The library uses the names of MPI's profiling interface, so that libfenix_mpi does not
// see its calls. Functions of these names stand before MPI's own (counting.cpp).
#pragma once

#include <array>
#include <cstdint>

namespace scaling {

enum Count {
  messages,  ///< sent
  message_bytes,
  puts,
  put_bytes,
  gets,
  get_bytes,
  allgathers,       ///< MPI's own
  allgather_bytes,  ///< of the result
  communicators,    ///< made by MPI_Comm_dup and MPI_Comm_split
  windows,
  agreements,
  shrinks,
  kinds
};

inline constexpr std::array<const char*, kinds> kNames{
    "messages",   "message_bytes",   "puts",          "put_bytes", "gets",       "get_bytes",
    "allgathers", "allgather_bytes", "communicators", "windows",   "agreements", "shrinks"};

using Counts = std::array<std::int64_t, kinds>;

/// Of this process, from the start on; one thread.
Counts& counts();

}  // namespace scaling
