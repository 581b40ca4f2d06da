// SPDX-License-Identifier: BSD-3-Clause
// Communicators that serve one call of a constructor after another, in programs without calls of Fenix. One that all members have freed cannot be
// freed for MPI: a process that takes a dead one's place makes it once more. It serves the next call that would make the same one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/comms/derivation.hpp"

namespace fenix_impl {

/// A hash of what a rank tells a constructor: two calls on a parent make the same communicator if no rank tells something else.
class Recipe {
 public:
  explicit Recipe(Constructor constructor) : hash_(mix(2, static_cast<std::uint64_t>(constructor))) {}
  Recipe& add(std::uint64_t number) {
    hash_ = mix(hash_ + 1, number);
    return *this;
  }
  Recipe& add(const int* numbers, int count) {
    add(static_cast<std::uint64_t>(count));
    for (int i = 0; numbers != nullptr && i < count; ++i) add(static_cast<std::uint64_t>(numbers[i]));
    return *this;
  }
  /// A communicator that is made with an info serves one call only.
  Recipe& add(MPI_Info info) {
    is_known_ = is_known_ && info == MPI_INFO_NULL;
    return *this;
  }
  /// Returns 0 if nothing that is made so is the same.
  [[nodiscard]] std::uint64_t hash() const { return is_known_ ? hash_ | 1U : 0; }

 private:
  std::uint64_t hash_;
  bool is_known_ = true;
};

/// Returns what this rank knows of the communicators that were made from a parent: which ones it has freed, and which ones may serve a call for its
/// sake. The bitwise AND over all members holds for all. The vector lives as long as its thread. Local.
[[nodiscard]] std::vector<std::uint64_t>& tell_of_lives(const Derivation& call);
/// Has a communicator that is free serve a call, if there is one. Returns whether newcomm is written. agreed: the AND. Local.
[[nodiscard]] bool serve_again(const Derivation& call, const std::vector<std::uint64_t>& agreed, MPI_Comm* newcomm);
/// Notes that the program has freed a communicator.
void note_freed(MPI_Comm name);

}  // namespace fenix_impl
