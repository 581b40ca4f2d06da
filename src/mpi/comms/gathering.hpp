// SPDX-License-Identifier: BSD-3-Clause
// Gives every rank the numbers of each rank.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/base/real.hpp"

namespace fenix_impl {

/// It has to live as long as its thread where an error handler may leave run() by longjmp: then destructors do not run.
template <class Number>
class Gathering {
 public:
  /// Takes the numbers of this rank, any number of them.
  void set_own(std::vector<Number> own) { own_ = std::move(own); }
  /// Collective. Returns an error of MPI.
  [[nodiscard]] int run(MPI_Comm comm) {
    int size = 0;
    real.Comm_size(comm, &size);
    lengths_.assign(static_cast<std::size_t>(size), 0);
    places_.assign(lengths_.size(), 0);
    const int length = static_cast<int>(own_.size());
    int error = real.Allgather(&length, 1, MPI_INT, lengths_.data(), 1, MPI_INT, comm);
    if (error != MPI_SUCCESS) return error;
    std::size_t all = 0;
    for (std::size_t rank = 0; rank < lengths_.size(); ++rank) {
      places_[rank] = static_cast<int>(all);
      all += static_cast<std::size_t>(lengths_[rank]);
      if (all > INT_MAX) return MPI_ERR_COUNT;
    }
    all_.resize(all);
    const MPI_Datatype type = std::is_same_v<Number, int> ? MPI_INT : MPI_INT64_T;
    error = real.Allgatherv(own_.data(), length, type, all_.data(), lengths_.data(), places_.data(), type, comm);
    if (error != MPI_SUCCESS) return error;
    // MPI_Allgatherv of Open MPI 5.0.7 without mends says success and gives nothing if a rank dies in it (tests/open_mpi/README.md).
    return real.Barrier(comm);
  }

  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  [[nodiscard]] std::span<const Number> of(std::size_t rank) const {
    return std::span(all_).subspan(static_cast<std::size_t>(places_[rank]), static_cast<std::size_t>(lengths_[rank]));
  }

 private:
  static_assert(std::is_same_v<Number, int> || std::is_same_v<Number, std::int64_t>);

  std::vector<int> lengths_;
  std::vector<int> places_;  ///< of the first number of each rank
  std::vector<Number> own_;
  std::vector<Number> all_;
};

}  // namespace fenix_impl
