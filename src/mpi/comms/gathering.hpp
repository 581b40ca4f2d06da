// SPDX-License-Identifier: BSD-3-Clause
// Gives every rank the numbers of each rank. MPI_Allgatherv of Open MPI 5.0.7 returns success without any data if rank 0 dies in it
// (tests/open_mpi/README.md).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
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
    lengths_.resize(static_cast<std::size_t>(size));
    const int length = static_cast<int>(own_.size());
    const int error = real.Allgather(&length, 1, MPI_INT, lengths_.data(), 1, MPI_INT, comm);
    if (error != MPI_SUCCESS) return error;
    most_ = static_cast<std::size_t>(*std::max_element(lengths_.begin(), lengths_.end()));
    own_.resize(most_);
    all_.resize(most_ * lengths_.size());
    const int bytes = static_cast<int>(most_ * sizeof(Number));
    return real.Allgather(own_.data(), bytes, MPI_BYTE, all_.data(), bytes, MPI_BYTE, comm);
  }

  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  [[nodiscard]] std::span<const Number> of(std::size_t rank) const {
    return std::span(all_).subspan(rank * most_, static_cast<std::size_t>(lengths_[rank]));
  }

 private:
  std::vector<int> lengths_;
  std::size_t most_ = 0;  ///< numbers of the rank that has most
  std::vector<Number> own_;
  std::vector<Number> all_;
};

}  // namespace fenix_impl
