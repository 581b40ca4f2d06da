// SPDX-License-Identifier: BSD-3-Clause
#include "rma/element_type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/simd/hash.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

// Plain bytes are described by this, which is no combiner, and their number.
constexpr std::uint32_t kPlain = 0xffffffff;
using PlainDescription = std::array<std::uint32_t, 2>;

// Columns of matrices have many short pieces: for these a call would take longer than the copy.
void copy_piece(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else if (bytes == sizeof(std::uint32_t)) {
    std::memcpy(to, from, sizeof(std::uint32_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

Error wrong(const std::string& why) { return {FENIX_ERROR_INVALID_ARGUMENT, "datatype: " + why}; }

// MPI has no question for it, but refuses to pack even nothing.
bool is_committed(MPI_Datatype type) {
  std::array<std::byte, 8> nothing{};
  int position = 0;
  return MPI_Pack(nothing.data(), 0, type, nothing.data(), static_cast<int>(nothing.size()), &position,
                  MPI_COMM_SELF) == MPI_SUCCESS;
}

// The description is of use only if the type that others build of it is like this one.
SharedLayout checked_layout(MPI_Datatype type, std::span<const std::byte> description) {
  const QuietTypes quiet;
  try {
    const BuiltType like = build_type(description);
    if (bounds_of(like.type.get()) == bounds_of(type)) return like.layout;
  } catch (const Error& error) {
    throw wrong(error.what());
  }
  throw wrong("a type made of its description is not like it");
}

void check_usable(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) throw wrong("MPI_DATATYPE_NULL");
  if (!is_committed(type)) throw wrong("not committed");
}

TypeHandle own(MPI_Datatype type) {
  const QuietTypes quiet;
  check_usable(type);
  return committed_duplicate(type);
}

// Displacements may be absolute addresses (MPI_BOTTOM): their sum is within an object, the buffer need not be.
template <typename Byte>
Byte* at(Byte* buffer, std::ptrdiff_t offset) {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(offset));
}

}  // namespace

ElementType ElementType::plain(std::uint32_t bytes) {
  ElementType plain;
  if (bytes == 0) return plain;
  const PlainDescription description{kPlain, bytes};
  const auto described = std::as_bytes(std::span(description));
  plain.description_.assign(described.begin(), described.end());
  plain.layout_ = std::make_shared<TypeLayout>(bytes);
  plain.bytes_ = bytes;
  plain.extent_ = bytes;
  return plain;
}

ElementType::ElementType(MPI_Datatype type) {
  TypeHandle owned = own(type);
  auto description = describe_type(type);
  SharedLayout layout = checked_layout(type, description);
  *this = ElementType(std::move(owned), bounds_of(type), std::move(layout), std::move(description));
}

ElementType ElementType::without_handle(MPI_Datatype type) {
  const QuietTypes quiet;
  check_usable(type);
  auto description = describe_type(type);
  SharedLayout layout = checked_layout(type, description);
  return {TypeHandle(), bounds_of(type), std::move(layout), std::move(description)};
}

ElementType::ElementType(TypeHandle type, const TypeBounds& bounds, SharedLayout layout,
                         std::vector<std::byte> description)
    : type_(std::move(type)), layout_(std::move(layout)), description_(std::move(description)) {
  if (bounds.size <= 0) throw wrong("it has no bytes");
  if (bounds.size > std::numeric_limits<std::uint32_t>::max()) throw wrong("elements of more than 4 GiB");
  if (layout_->bytes() != static_cast<std::uint64_t>(bounds.size)) throw wrong("MPI does not know its size");
  bytes_ = static_cast<std::uint32_t>(bounds.size);
  extent_ = bounds.extent;
  contiguous_ = layout_->is_block() && bounds.lower == 0 && bounds.extent == bounds.size;
}

ElementType ElementType::from_description(std::span<const std::byte> description) {
  PlainDescription plain_bytes{};
  if (description.size() == sizeof(plain_bytes)) {
    std::memcpy(plain_bytes.data(), description.data(), sizeof(plain_bytes));
    if (plain_bytes[0] == kPlain && plain_bytes[1] > 0) return plain(plain_bytes[1]);
  }
  const QuietTypes quiet;
  try {
    const BuiltType built = build_type(description);
    const TypeBounds bounds = bounds_of(built.type.get());
    return {committed_duplicate(built.type.get()), bounds, built.layout, {description.begin(), description.end()}};
  } catch (const Error& error) {
    throw Error(FENIX_ERROR_INTERN, error.what());
  }
}

std::uint64_t ElementType::hash() const { return hash_bytes(description_); }

std::optional<std::uint64_t> ElementType::buffer_bytes(std::uint64_t count) const {
  if (count == 0) return 0;
  std::ptrdiff_t first = 0;
  std::ptrdiff_t end = 0;
  const auto note = [&](std::ptrdiff_t offset, std::uint64_t bytes) {
    first = std::min(first, offset);
    end = std::max(end, offset + static_cast<std::ptrdiff_t>(bytes));
  };
  layout_->walk(0, note);
  std::uint64_t others = 0;
  std::uint64_t all = 0;
  // An array of elements ends behind the hole of the last one.
  const std::uint64_t last = std::max(static_cast<std::uint64_t>(end), extent());
  if (first < 0 || extent_ < 0 || __builtin_mul_overflow(count - 1, extent(), &others) ||
      __builtin_add_overflow(others, last, &all)) {
    return std::nullopt;
  }
  return all;
}

void ElementType::pack(const void* buffer, std::uint64_t first, std::uint64_t count, std::byte* to) const {
  if (bytes_ == 0 || count == 0) return;
  const std::byte* from = static_cast<const std::byte*>(buffer);
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(first) * extent_;
  if (contiguous_) {
    std::memcpy(to, at(from, start), count * bytes_);
    return;
  }
  const auto move = [&](std::ptrdiff_t offset, std::uint64_t bytes) {
    copy_piece(to, at(from, offset), bytes);
    to += bytes;
  };
  for (std::uint64_t element = 0; element < count; ++element) {
    layout_->walk(start + static_cast<std::ptrdiff_t>(element) * extent_, move);
  }
}

void ElementType::unpack(const std::byte* from, std::uint64_t first, std::uint64_t count, void* buffer) const {
  if (bytes_ == 0 || count == 0) return;
  std::byte* to = static_cast<std::byte*>(buffer);
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(first) * extent_;
  if (contiguous_) {
    std::memcpy(at(to, start), from, count * bytes_);
    return;
  }
  const auto move = [&](std::ptrdiff_t offset, std::uint64_t bytes) {
    copy_piece(at(to, offset), from, bytes);
    from += bytes;
  };
  for (std::uint64_t element = 0; element < count; ++element) {
    layout_->walk(start + static_cast<std::ptrdiff_t>(element) * extent_, move);
  }
}

}  // namespace fenix_impl
