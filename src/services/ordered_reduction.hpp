// SPDX-License-Identifier: BSD-3-Clause
// A reduction of contributions in the order in which they come: ((a op b) op c) op d. Every rank that reduces the same ones gets the
// same bits, also where an operation is not associative.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "rma/element_type.hpp"

namespace fenix_impl {

class OrderedReduction {
 public:
  /// elements: the description of type, which has to outlive this object.
  OrderedReduction(const ElementType& elements, MPI_Datatype type, int count, MPI_Op op);

  /// Adds a contribution: packed elements, as many as count says. Throws MpiError if MPI does not know the operation for the type.
  void add(std::span<const std::byte> packed);
  /// Writes the result. The buffer stays as it is if there has been no contribution.
  void write(void* buffer) const;

 private:
  /// Returns the address of the first element in memory that has room for all, with their holes. It is aligned for any type.
  [[nodiscard]] std::byte* first_in(std::vector<std::byte>& memory) const;

  const ElementType& elements_;
  MPI_Datatype type_;
  int count_;
  MPI_Op op_;
  MPI_Aint lowest_ = 0;  // byte of the elements, from the address of the first one on
  std::vector<std::byte> memory_of_sum_;
  std::vector<std::byte> memory_of_next_;
  std::byte* sum_;
  std::byte* next_;
  bool is_empty_ = true;
};

}  // namespace fenix_impl
