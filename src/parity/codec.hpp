// SPDX-License-Identifier: BSD-3-Clause
// Units of a redundancy set's codewords, computed from others: parity from data, and what was lost from what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/simd/copy.hpp"
#include "parity/code.hpp"
#include "parity/stripes.hpp"

namespace fenix_impl {

class Codec {
 public:
  /// Gives bytes of the data or parity of a rank, zeros behind its end. They have to stay as they are until the next call with
  /// the same source, which counts the bytes that are needed at a time.
  using Read = std::function<const std::byte*(const Stripes::Cell& cell, std::size_t bytes, std::size_t source)>;

  /// available: ranks whose data and parity can be read, by their index in the redundancy set. Parity is computed from data where all
  /// of it is there.
  Codec(int ranks, int parity, std::vector<bool> available);

  /// Takes what this rank has among the sources wherever it can: it is at hand, and that of others has to be fetched. Called
  /// before all else.
  void prefer(int rank) { preferred_ = rank; }
  /// Whether what is available suffices to compute what is not.
  [[nodiscard]] bool suffices() const;
  /// Computes bytes of the data or parity of a rank, from a cell on. stripes: of the same redundancy set. suffices() must be true.
  void compute(const Stripes& stripes, Stripes::Cell from, std::span<std::byte> target, const Read& read,
               Stores stores);
  /// Names the bytes that compute() reads, in its order.
  using Visit = std::function<void(const Stripes::Cell& cell, std::size_t bytes)>;
  void for_each_source(const Stripes& stripes, Stripes::Cell from, std::size_t bytes, const Visit& visit);

 private:
  /// How a unit of a row is made: other units of the row, and their coefficients.
  struct Plan {
    std::vector<int> numbers;
    Combination combination{{}};
  };

  /// Bytes of one unit that are to be computed.
  struct Part {
    Stripes::Position position;
    std::uint64_t within = 0;  ///< where they begin in their unit
    std::size_t bytes = 0;
  };

  static Part first_part(const Stripes& stripes, const Stripes::Cell& from, std::size_t bytes);
  static Stripes::Cell source_of(const Stripes& stripes, const Part& part, int number);
  const Plan& plan(const Stripes& stripes, const Stripes::Position& position);

  int ranks_;
  Code code_;
  std::vector<bool> available_;
  int preferred_ = -1;
  std::vector<Plan> plans_;  // by row and number, made when they are needed
};

}  // namespace fenix_impl
