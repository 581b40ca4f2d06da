// SPDX-License-Identifier: BSD-3-Clause
// How the data of a redundancy set is striped, so that work and parity are spread evenly over its ranks.
//
// The general algorithm of SCR (user manual 7.3.1), for any number of parities, and by units instead of whole chunks: what
// is added at the end of the data changes nothing of the parity before. A stripe has, for each of the g ranks, a row: a
// codeword of g units, one from each rank. In row r the ranks r, r + 1, … r + m - 1 (modulo g) have its m parity units, and
// the other ranks its data units. So each rank has g - m units of data in a stripe, one after the other, and m of parity.
// Data that ends within a stripe goes on with zeros, which nobody stores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.hpp"

namespace fenix_impl {

class Stripes {
 public:
  /// A unit of a codeword. number: below data() it is data, then parity.
  struct Position {
    std::uint64_t stripe = 0;
    int row = 0;
    int number = 0;
  };
  /// Where a unit is: in the data or in the parity of a rank (its index in the redundancy set).
  struct Cell {
    int rank = 0;
    bool is_parity = false;
    std::uint64_t offset = 0;
  };

  /// Most bytes of a unit.
  static constexpr std::uint64_t kLargestUnit = std::uint64_t{32} << 10;

  Stripes() = default;
  /// unit: bytes, at least 1.
  Stripes(int ranks, int parity, std::uint64_t unit) : ranks_(ranks), parity_(parity), unit_(unit) {}

  /// Bytes of a unit for a redundancy set whose ranks have at most so many bytes of data, or any number if it may grow. A unit is
  /// large enough to be worked on at a stretch, and small enough not to waste parity on small data.
  [[nodiscard]] static std::uint64_t unit_for(std::uint64_t most_bytes, int data, bool grows);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int data() const { return ranks_ - parity_; }
  [[nodiscard]] int parity() const { return parity_; }
  [[nodiscard]] std::uint64_t unit() const { return unit_; }
  /// Bytes of parity that each rank has, if ranks have at most so many bytes of data.
  [[nodiscard]] std::uint64_t parity_bytes(std::uint64_t most_bytes) const;

  /// Returns where a unit is. Its number is counted from the start of the rank's data or parity.
  [[nodiscard]] Position position(int rank, bool is_parity, std::uint64_t unit_number) const;
  [[nodiscard]] Cell cell(const Position& position) const;
  /// Which bytes of the parity of holder may change with those bytes of the data of rank.
  [[nodiscard]] IntervalSet parity_of(int holder, int rank, const IntervalSet& bytes) const;

 private:
  void add_parity_of(int holder, int rank, const Interval& bytes, std::vector<Interval>& found) const;
  [[nodiscard]] int wrap(int rank) const { return ((rank % ranks_) + ranks_) % ranks_; }

  int ranks_ = 1;
  int parity_ = 0;
  std::uint64_t unit_ = 1;
};

}  // namespace fenix_impl
