// SPDX-License-Identifier: BSD-3-Clause
// The two ways in which work inside the library ends early. Both are turned into codes at the edge (runtime/entry.hpp).
#pragma once

#include <fenix/codes.h>

#include <stdexcept>
#include <string>

namespace fenix_impl {

/// Place in the source of the library. std::source_location, which clang 14 does not have.
struct Place {
  const char* file = "";
  const char* function = "";
  unsigned line = 0;

  static constexpr Place here(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                              unsigned line = __builtin_LINE()) {
    return {file, function, line};
  }
};

/// Bad input, lack of resources, loss of data: becomes the code that the public function returns.
class Error : public std::runtime_error {
 public:
  Error(Fenix_Return_codes code, const std::string& text, Place place = Place::here())
      : std::runtime_error(text), code_(code), place_(place) {}
  [[nodiscard]] Fenix_Return_codes code() const { return code_; }
  /// Returns where the error was found, on this rank.
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Fenix_Return_codes code_;
  Place place_;
};

/// FENIX_ERROR_NO_MEMORY, made in advance: to copy it takes no memory.
const Error& out_of_memory();

/// An MPI call has failed, and the error does not say that a rank has died. It may mean just that.
class MpiError : public Error {
 public:
  MpiError(int mpi_error, const std::string& text, Place place = Place::here())
      : Error(FENIX_ERROR_NOCATEGORY, text, place), mpi_error_(mpi_error) {}
  [[nodiscard]] int mpi_error() const { return mpi_error_; }

 private:
  int mpi_error_;
};

/// A rank that this one needs has died, or another rank has noticed that and called off the work in common.
/// Carries the MPI error code; leads to a repair.
class PeerFailure : public std::runtime_error {
 public:
  explicit PeerFailure(int mpi_error) : std::runtime_error("a peer has failed"), mpi_error_(mpi_error) {}
  [[nodiscard]] int mpi_error() const { return mpi_error_; }

 private:
  int mpi_error_;
};

}  // namespace fenix_impl
