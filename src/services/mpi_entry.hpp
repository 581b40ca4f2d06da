// SPDX-License-Identifier: BSD-3-Clause
// Functions of MPI that libfenix does: their arguments, the types of their messages, their errors, their waits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "interposition/interposer.hpp"
#include "rma/element_type.hpp"
#include "rma/mpi_errors.hpp"
#include "runtime/entry.hpp"

namespace fenix_impl {

/// Types of the messages of a call. Each one is described once for all calls, until the program has freed it.
class MessageTypes {
 public:
  /// Throws MpiError for a type that cannot be stored. The description stays as long as this object.
  [[nodiscard]] const ElementType& of(MPI_Datatype type);
  /// Returns the description if it is there and stays as long as the type; otherwise null. Does not call MPI.
  [[nodiscard]] static const ElementType* known(MPI_Datatype type);

 private:
  /// The type of the latest message of this thread.
  struct Latest {
    MPI_Datatype type = nullptr;
    const ElementType* elements = nullptr;
    unsigned ended = 0;  ///< so many types had ended
  };
  static thread_local Latest latest_;

  std::map<MPI_Datatype, ElementType> made_;
};

/// Throw MpiError if an argument is wrong; name: of the argument.
void check_buffer(const void* buffer, int count, MPI_Datatype type);
void check_rank(MPI_Comm now, int rank, const char* name);

/// Writes the status of a message of so many bytes.
void set_status(MPI_Status* status, int source, int tag, std::uint64_t bytes);

/// Ends the job: nobody can go on if a process does something else than before.
[[noreturn]] void end_job(const char* why);
/// Writes the outcome that a call must have for next_determinant; nothing: any.
void tell_outcome(const std::optional<std::vector<int>>& forced, int room, int* count, int* outcome);
/// Writes the source and the tag that a receive must have to those that the program wants.
void tell_match(int forced_source, int forced_tag, int* source, int* tag);

/// Writes as many elements as there are bytes for, from an element of the buffer on; the last one may be a part.
void unpack_part(const ElementType& elements, std::span<const std::byte> bytes, std::int64_t first, void* buffer);

/// Returns the error of MPI for an error whose code is not MPI's own.
[[nodiscard]] int class_of(const Error& error);

/// Does the same as entry(), for functions that return an error of MPI. No object with a destructor may be in the frames around it.
template <class Body>
int mpi_entry(Body&& body) {
  int mpi_error = MPI_SUCCESS;
  Failure failure;
  (void)run_inside(
      [&]() -> int {
        try {
          runtime().use().require_ready();
          body();
        } catch (const PeerFailure& peer) {
          mpi_error = peer.mpi_error();
          throw;
        } catch (const MpiError& error) {
          mpi_error = error.mpi_error();
          if (is_failure(mpi_error) || is_vague(mpi_error)) throw;
          return report(error.code(), error.what(), error.place());
        } catch (const Error& error) {
          mpi_error = class_of(error);
          return report(error.code(), error.what(), error.place());
        } catch (const std::bad_alloc&) {
          mpi_error = MPI_ERR_NO_MEM;
          return report(FENIX_ERROR_NO_MEMORY, "out of memory");
        }
        return FENIX_SUCCESS;
      },
      failure);
  if (failure.mpi_error != MPI_SUCCESS) {
    mpi_error = failure.mpi_error;
    (void)after_failure(failure);
  }
  return mpi_error;
}

/// Calls look until it returns true. The message may come from any rank, at any time; a repair ends the wait.
template <class Look>
bool look_until(bool waits, MPI_Comm comm, const Look& look) {
  if (look()) return true;
  if (!waits) return false;
  if (!runtime().persistence().comms().waits(comm)) {
    throw Error(FENIX_ERROR_NODATA_FOUND,
                "nothing has been stored that this call could get, and persist_missing is \"error\"");
  }
  const Deadline deadline;
  const Backoff backoff;
  while (!look()) {
    if (const int error = runtime().process().comms().look_for_failures(); error != MPI_SUCCESS)
      throw PeerFailure(error);
    deadline.check("a message on a persistent communicator, which nobody has stored");
    backoff.pause();
  }
  return true;
}

}  // namespace fenix_impl
