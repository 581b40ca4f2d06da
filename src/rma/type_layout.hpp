// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of an element are, in the order of its type map.
//
// Packing does not use MPI_Pack: Open MPI 5.0.7 packs some types wrong, such as several std::complex<double> with gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fenix_impl {

class TypeLayout;
using SharedLayout = std::shared_ptr<const TypeLayout>;

/// Nested loops over blocks of bytes.
class TypeLayout {
 public:
  TypeLayout() = default;
  /// One block at 0.
  explicit TypeLayout(std::uint64_t bytes) { add_block(0, bytes); }

  void add_block(std::ptrdiff_t offset, std::uint64_t bytes);
  /// count times inner, the first at offset, the others each a stride further.
  void add(std::ptrdiff_t offset, std::uint64_t count, std::ptrdiff_t stride, const SharedLayout& inner);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// True if all bytes are in order without gaps, the first at 0.
  [[nodiscard]] bool is_block() const {
    return loops_.size() == 1 && is_block(loops_.front()) && loops_.front().offset == 0;
  }

  /// Calls move(offset, bytes) for each block of an element at offset.
  template <typename Move>
  void walk(std::ptrdiff_t offset, Move& move) const {
    for (const Loop& loop : loops_) {
      std::ptrdiff_t at = offset + loop.offset;
      for (std::uint64_t turn = 0; turn < loop.count; ++turn) {
        if (turn > 0) at += loop.stride;
        if (loop.inner) {
          loop.inner->walk(at, move);
        } else {
          move(at, loop.bytes);
        }
      }
    }
  }

 private:
  struct Loop {
    std::ptrdiff_t offset = 0;
    std::uint64_t count = 1;
    std::ptrdiff_t stride = 0;
    std::uint64_t bytes = 0;  // of a block, if there is no inner layout
    SharedLayout inner;
  };
  static bool is_block(const Loop& loop) { return loop.count == 1 && !loop.inner; }

  std::vector<Loop> loops_;
  std::uint64_t bytes_ = 0;
};

/// A named type: all bytes, or for the pairs for MPI_MINLOC a value, a hole perhaps, an int, and a hole perhaps.
[[nodiscard]] SharedLayout named_layout(std::uint64_t bytes, std::uint64_t extent);

/// One dimension of an array: those of its elements that are taken.
struct Chosen {
  std::int64_t whole = 1;
  std::int64_t first = 0;
  std::int64_t block = 1;  ///< elements together
  std::int64_t step = 1;   ///< from a block to the next one
  std::int64_t end = 1;    ///< none from here on
};

/// Dimensions: the one whose neighbours are nearest comes first.
[[nodiscard]] SharedLayout array_layout(std::span<const Chosen> dimensions, std::ptrdiff_t extent, SharedLayout inner);

}  // namespace fenix_impl
