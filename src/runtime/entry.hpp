// SPDX-License-Identifier: BSD-3-Clause
// Boundary of the library: every public function is one call of entry(), which converts exceptions into codes and
// failures into repairs.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "interposition/interposer.hpp"
#include "runtime/runtime.hpp"

namespace fenix_impl {

/// Records the text for Fenix_Error_message, and the place for exceptions of C++, and returns the code.
inline int report(int code, const char* text, Place place = Place::here()) noexcept {
  try {
    last_error().text = text;
  } catch (const std::bad_alloc&) {
    last_error().text = "out of memory";  // short enough to need no allocation
  }
  last_error().place = place;
  return code;
}

/// Failure that a call has met.
struct Failure {
  int mpi_error = MPI_SUCCESS;  ///< MPI error; MPI_SUCCESS: no failure
  int repairs_before = 0;       ///< number of repairs when the call began
};

/// Runs body, which returns a code. Writes the MPI error to failure if a rank has died meanwhile.
template <class Body>
int run_inside(Body&& body, Failure& failure) {
  const auto call = runtime().gate().begin_call();
  const Runtime::Inside inside;
  failure.repairs_before = runtime().process().repair().count();
  try {
    return body();
  } catch (const PeerFailure& peer) {
    failure.mpi_error = peer.mpi_error();
    return FENIX_ERROR_CANCELLED;
  } catch (const MpiError& error) {
    if (runtime().detector().comes_from_failure(error.mpi_error())) failure.mpi_error = error.mpi_error();
    return report(error.code(), error.what(), error.place());
  } catch (const Error& error) {
    return report(error.code(), error.what(), error.place());
  } catch (const std::bad_alloc&) {
    runtime().withdraw_from_call();
    return report(FENIX_ERROR_NO_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    runtime().withdraw_from_call();
    return report(FENIX_ERROR_NO_MEMORY, "more memory than there can be");
  } catch (const std::exception& error) {
    return report(FENIX_ERROR_INTERN, error.what());
  }
}

/// Repairs the communicator and resumes. Returns only in resume mode "return". No object with a destructor may exist in
/// the frames between this one and the application, because control may leave by longjmp.
inline int after_failure(const Failure& failure) {
  const bool repaired = runtime().failures().repair(failure.mpi_error, failure.repairs_before);
  runtime().continuation().resume(failure.mpi_error, repaired);
  return report(FENIX_ERROR_CANCELLED, "a rank has died");
}

/// Runs body, which returns a code, and handles exceptions and failures.
template <class Body>
int entry(Body&& body) {
  Failure failure;
  const int code = run_inside(body, failure);
  return failure.mpi_error == MPI_SUCCESS ? code : after_failure(failure);
}

/// Does the same as entry(), for functions that need Fenix_Init.
template <class Body>
int ready_entry(Body&& body) {
  return entry([&]() -> int {
    runtime().use().require_ready();
    return body();
  });
}

/// Throws Error(FENIX_ERROR_INVALID_ARGUMENT), which names the argument, if it is null.
inline void require(const void* argument, const char* name) {
  if (argument == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, std::string(name) + " is NULL");
}

/// Throws Error(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE) if the program's calls of MPI do not come to libfenix_mpi. who_needs: "… needs".
inline void require_library(const char* who_needs) {
  if (interposer() != nullptr && interposer()->is_in_front()) return;
  throw Error(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE,
              std::string(who_needs) + " the library libfenix_mpi, linked before MPI or preloaded");
}

}  // namespace fenix_impl
