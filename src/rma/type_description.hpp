// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes as bytes: how a type was made, so that another process can make one like it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rma/quiet_comm.hpp"
#include "rma/type_layout.hpp"

namespace fenix_impl {

/// A datatype that is freed at the end, unless MPI has ended before or the type is one that must not be freed.
class TypeHandle {
 public:
  TypeHandle() = default;
  TypeHandle(MPI_Datatype type, bool owned) : type_(type), owned_(owned) {}
  TypeHandle(TypeHandle&& other) noexcept { swap(other); }
  TypeHandle& operator=(TypeHandle&& other) noexcept {
    TypeHandle(std::move(other)).swap(*this);
    return *this;
  }
  ~TypeHandle();
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  void swap(TypeHandle& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(owned_, other.owned_);
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool owned_ = false;
};

/// Makes errors of calls about types end in return codes while it lives: Open MPI reports them on the world, or on self.
struct QuietTypes {
  QuietComm world{MPI_COMM_WORLD};
  QuietComm self{MPI_COMM_SELF};
};

struct TypeBounds {
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  bool operator==(const TypeBounds&) const = default;
};

[[nodiscard]] TypeBounds bounds_of(MPI_Datatype type);

/// A duplicate that can be used for communication.
[[nodiscard]] TypeHandle committed_duplicate(MPI_Datatype type);

/// The parts of a type: MPI_Type_get_envelope and MPI_Type_get_contents. A named type has no contents.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<TypeHandle> types;
};

[[nodiscard]] TypeContents contents_of(MPI_Datatype type);

/// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) for a type that is made in a way that is not known here, that is nested too
/// deeply, or whose description would be too long. The same for a duplicate as for the original.
[[nodiscard]] std::vector<std::byte> describe_type(MPI_Datatype type);

struct BuiltType {
  TypeHandle type;  ///< not committed
  SharedLayout layout;
};

/// Throws Error(FENIX_ERROR_INTERN) for bytes that are no description, whatever they are.
[[nodiscard]] BuiltType build_type(std::span<const std::byte> description);

}  // namespace fenix_impl
