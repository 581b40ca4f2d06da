// SPDX-License-Identifier: BSD-3-Clause
// The type of a member's elements.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rma/type_description.hpp"
#include "rma/type_layout.hpp"

namespace fenix_impl {

/// The type of a member's elements. Elements are kept packed: only their bytes, without holes, in the order of the type
/// map. Making, moving and ending one is for the thread that calls MPI; pack and unpack do not call it.
class ElementType {
 public:
  /// No type, 0 bytes.
  ElementType() = default;
  /// Plain bytes without an MPI type, for groups that never meet MPI.
  static ElementType plain(std::uint32_t bytes);
  /// Takes a duplicate: type may be freed at any time. Throws Error(FENIX_ERROR_INVALID_ARGUMENT) for MPI_DATATYPE_NULL,
  /// for a type that is not committed, has no bytes or more than fit uint32_t, or cannot be described (describe_type).
  explicit ElementType(MPI_Datatype type);
  /// As the constructor, without a duplicate: handle() is MPI_DATATYPE_NULL, and MPI can free the type.
  static ElementType without_handle(MPI_Datatype type);
  /// A type like the one that was described. Throws Error(FENIX_ERROR_INTERN) for bytes that are no description, whatever
  /// they are.
  static ElementType from_description(std::span<const std::byte> description);

  /// Bytes of one element, packed.
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  /// Bytes from one element to the next in a buffer, with holes.
  [[nodiscard]] std::uint64_t extent() const { return static_cast<std::uint64_t>(extent_); }
  /// Returns the bytes that a buffer of so many elements takes up, from its address on; none if an element has bytes before that
  /// address, or if no memory is that large.
  [[nodiscard]] std::optional<std::uint64_t> buffer_bytes(std::uint64_t count) const;
  /// Stays owned. MPI_DATATYPE_NULL for plain bytes, and for a type without_handle().
  [[nodiscard]] MPI_Datatype handle() const { return type_.get(); }
  /// True if packing is a copy: no holes, all in order.
  [[nodiscard]] bool contiguous() const { return contiguous_; }
  /// The same for types that were made alike, in any process of a job. Empty for no type.
  [[nodiscard]] std::vector<std::byte> description() const { return description_; }
  [[nodiscard]] std::uint64_t hash() const;
  /// Packs elements [first, first + count) of buffer to `to`, which has count * bytes() bytes.
  void pack(const void* buffer, std::uint64_t first, std::uint64_t count, std::byte* to) const;
  /// The opposite. Leaves alone what lies between the elements' bytes.
  void unpack(const std::byte* from, std::uint64_t first, std::uint64_t count, void* buffer) const;

 private:
  ElementType(TypeHandle type, const TypeBounds& bounds, SharedLayout layout, std::vector<std::byte> description);

  TypeHandle type_;
  SharedLayout layout_ = std::make_shared<TypeLayout>();
  std::vector<std::byte> description_;
  std::uint32_t bytes_ = 0;
  MPI_Aint extent_ = 0;
  bool contiguous_ = true;
};

}  // namespace fenix_impl
