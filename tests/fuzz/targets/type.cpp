// SPDX-License-Identifier: BSD-3-Clause
// The description of a datatype. The type built from it is the one MPI builds, and packs and unpacks within its bounds.
#include "base/error.hpp"
#include "fuzz/support.hpp"
#include "rma/element_type.hpp"
#include "rma/type_description.hpp"

using namespace fenix_impl;

namespace {

constexpr std::uint64_t kMostBytes = 1 << 16;

void check_layout(const BuiltType& built) {
  const TypeBounds bounds = bounds_of(built.type.get());
  fuzz::require(built.layout->bytes() == static_cast<std::uint64_t>(bounds.size), "size of the layout");
  if (bounds.size == 0 || built.layout->bytes() > kMostBytes) return;
  std::uint64_t sum = 0;
  auto move = [&](std::ptrdiff_t offset, std::uint64_t bytes) {
    fuzz::require(offset >= bounds.true_lower &&
                      offset + static_cast<std::ptrdiff_t>(bytes) <= bounds.true_lower + bounds.true_extent,
                  "a block lies within the bounds of its type");
    sum += bytes;
  };
  built.layout->walk(0, move);
  fuzz::require(sum == built.layout->bytes(), "sum of the blocks");
}

// Packs and unpacks two elements in memory of just their size.
void check_packing(const ElementType& type, const TypeBounds& bounds) {
  constexpr std::uint64_t kElements = 2;
  const MPI_Aint far = bounds.extent;
  const MPI_Aint begin = bounds.true_lower + std::min<MPI_Aint>(0, far);
  const MPI_Aint end = bounds.true_lower + bounds.true_extent + std::max<MPI_Aint>(0, far);
  if (type.bytes() > kMostBytes || end - begin > MPI_Aint{kMostBytes}) return;
  fuzz::Bytes memory(static_cast<std::size_t>(end - begin), std::byte{1});
  fuzz::Bytes packed(kElements * type.bytes());
  // Where element 0 would begin: it need not have anything there.
  auto* const base = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory.data()) -
                                                  static_cast<std::uintptr_t>(begin));
  type.pack(base, 0, kElements, packed.data());
  fuzz::require(packed == fuzz::Bytes(packed.size(), std::byte{1}), "all that is packed comes from the elements");
  type.unpack(packed.data(), 0, kElements, base);
}

}  // namespace

int LLVMFuzzerInitialize(int*, char***) {
  fuzz::start_mpi();
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const fuzz::Bytes description(bytes.begin(), bytes.end());
  try {
    const BuiltType built = build_type(description);
    check_layout(built);
    const auto again = describe_type(built.type.get());
    fuzz::require(describe_type(build_type(again).type.get()) == again, "a type that was described is the same again");
    const auto type = ElementType::from_description(description);
    check_packing(type, bounds_of(built.type.get()));
  } catch (const Error&) {
    // No description, or of a type that no member can have.
  }
  return 0;
}
