// SPDX-License-Identifier: BSD-3-Clause
// Persistent communicators: a send stores, and a receive gets what was stored. libfenix does the work; here are the functions of MPI.
#pragma once

#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include <atomic>

#include "mpi/handles.hpp"
#include "mpi/logged.hpp"
#include "recovery/interposer.hpp"

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

/// Forgets a communicator that the program frees.
void forget_persistent(MPI_Comm comm);

/// Returns the functions of libfenix, or null if Fenix has not begun.
const PersistServices* persist_services();
/// Has these functions used instead, and messages on all communicators given to them. Null: no more.
void count_messages(const PersistServices* services);
/// Ends the use of functions for counts: messages are logged.
void use_services_of_logs();

/// Whether an error of MPI tells of a death, or of a repair.
bool tells_of_failure(int error);

/// Calls libfenix, and once more if a failure has cut it short and the program is to know nothing of it. call: returns an error of MPI.
template <class Call>
int call_libfenix(const Call& call) {
  int error = MPI_SUCCESS;
  do {
    error = call(*persist_services());
  } while (tells_of_failure(error) && is_transparent.load(std::memory_order_acquire));
  return error;
}

/// Calls the error handler of a communicator, unless the error tells of a failure, which has been dealt with. Returns the error.
int raise_on(MPI_Comm comm, int error);

}  // namespace fenix_impl
