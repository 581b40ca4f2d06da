// SPDX-License-Identifier: BSD-3-Clause
// The persistent communicators of the program.
#pragma once

#include <atomic>
#include <mpi.h>

#include "mpi/base/handles.hpp"

namespace fenix_impl {

/// The thing that a persistent communicator does with a message.
enum class Persistent : int {
  no,        ///< the communicator is not persistent
  stores,    ///< messages are stored
  delivers,  ///< messages are stored and delivered
};

/// The present table of persistent communicators, or null as long as there is none.
[[gnu::visibility("hidden")]] extern std::atomic<const HandleTable<Persistent>*> persistent_comms;

inline Persistent persistent_kind(MPI_Comm comm) {
  const HandleTable<Persistent>* all = persistent_comms.load(std::memory_order_acquire);
  return all == nullptr ? Persistent::no : all->find(comm, Persistent::no);
}

inline bool is_persistent(MPI_Comm comm) { return persistent_kind(comm) != Persistent::no; }

/// Whether messages on a communicator are delivered as well as stored.
inline bool delivers(MPI_Comm comm) { return persistent_kind(comm) == Persistent::delivers; }

/// Notes that a communicator is persistent.
void note_persistent(MPI_Comm comm, Persistent kind);
/// Forgets a communicator that the program frees.
void forget_persistent(MPI_Comm comm);

}  // namespace fenix_impl
