// SPDX-License-Identifier: BSD-3-Clause
// Reed–Solomon codes over GF(2^8): of data + parity positions, any data of them determine the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/simd/copy.hpp"
#include "base/simd/simd.hpp"

namespace fenix_impl {

/// One position as a sum of others, each with a coefficient.
class Combination {
 public:
  explicit Combination(std::vector<std::uint8_t> coefficients);

  /// One for each source. A source with 0 is not read.
  [[nodiscard]] std::span<const std::uint8_t> coefficients() const { return coefficients_; }

  /// target = sum of coefficient × source. There is a source for each coefficient, of at least target.size() bytes, which
  /// does not overlap the target. Nothing needs to be aligned. No allocation. Where a coefficient is not 1 and the CPU has
  /// no GFNI, stores are always cached: ISA-L has no others, and streaming its result from a buffer was slower.
  void apply(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores) const;

  /// The same with the kernels of one set, which this CPU must have. For tests.
  void apply(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores, Simd simd) const;

 private:
  std::vector<std::uint8_t> coefficients_;
  std::vector<std::size_t> used_;        // those that are not 0
  std::vector<unsigned char> tables_;    // of ISA-L, for those used; empty if all of them are 1
  std::vector<std::uint64_t> matrices_;  // the same for sum_of_products
};

/// Positions 0 … data − 1 are data, data … data + parity − 1 parity. Positions are the same for all time: parity that one
/// version has written, another one can decode.
class Code {
 public:
  static constexpr int kMostParity = 4;
  static constexpr int kMostPositions = 255;

  /// Throws Error(FENIX_ERROR_INVALID_ARGUMENT…): data >= 1, 0 <= parity <= 4, data + parity <= 255.
  Code(int data, int parity);

  [[nodiscard]] int data() const { return data_; }
  [[nodiscard]] int parity() const { return parity_; }

  /// What makes the position target from those of sources: data() distinct ones, without target. Encoding is a parity
  /// position with all data positions as sources.
  [[nodiscard]] Combination combination(int target, std::span<const int> sources) const;

 private:
  /// The coefficient of a data position in any position.
  [[nodiscard]] std::uint8_t coefficient(int position, int data_position) const;
  void check_positions(int target, std::span<const int> sources) const;
  [[nodiscard]] std::vector<std::uint8_t> inverse(std::span<const int> parities, std::span<const int> missing) const;

  int data_;
  int parity_;
  std::vector<std::uint8_t> rows_;  // of the parity positions
};

}  // namespace fenix_impl
