// SPDX-License-Identifier: BSD-3-Clause
#include "services/ordered_reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "rma/mpi_errors.hpp"

namespace fenix_impl {
namespace {

constexpr std::uintptr_t kAlignment = alignof(std::max_align_t);

}  // namespace

OrderedReduction::OrderedReduction(const ElementType& elements, MPI_Datatype type, int count, MPI_Op op)
    : elements_(elements), type_(type), count_(count), op_(op) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  check_mpi(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  check_mpi(MPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  const MPI_Aint to_last = std::max(count - 1, 0) * extent;
  lowest_ = true_lower + std::min<MPI_Aint>(to_last, 0);
  const MPI_Aint end = true_lower + true_extent + std::max<MPI_Aint>(to_last, 0);
  const std::size_t bytes = static_cast<std::size_t>(end - lowest_) + 2 * kAlignment;
  memory_of_sum_.resize(bytes);
  memory_of_next_.resize(bytes);
  sum_ = first_in(memory_of_sum_);
  next_ = first_in(memory_of_next_);
}

// The first element need not be in this memory: all its bytes may be behind its address.
std::byte* OrderedReduction::first_in(std::vector<std::byte>& memory) const {
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(lowest_);
  return reinterpret_cast<std::byte*>((start + kAlignment - 1) / kAlignment * kAlignment);
}

void OrderedReduction::add(std::span<const std::byte> packed) {
  elements_.unpack(packed.data(), 0, static_cast<std::uint64_t>(count_), next_);
  if (!is_empty_) check_mpi(MPI_Reduce_local(sum_, next_, count_, type_, op_), "MPI_Reduce_local");
  is_empty_ = false;
  std::swap(sum_, next_);
}

void OrderedReduction::write(void* buffer) const {
  if (is_empty_) return;
  std::vector<std::byte> packed(static_cast<std::size_t>(count_) * elements_.bytes());
  elements_.pack(sum_, 0, static_cast<std::uint64_t>(count_), packed.data());
  elements_.unpack(packed.data(), 0, static_cast<std::uint64_t>(count_), buffer);
}

}  // namespace fenix_impl
