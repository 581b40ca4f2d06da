// SPDX-License-Identifier: BSD-3-Clause
#include "parity/code.hpp"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "parity/products.hpp"
#include "parity/xor.hpp"

namespace fenix_impl {
namespace {

// What ISA-L keeps of a coefficient.
constexpr std::size_t kTableOfCoefficient = 32;

// Bytes that are computed in one call: ISA-L counts in int.
constexpr std::size_t kCombinedPiece = std::size_t{1} << 20;

// No bigger than a Code has them: pointers for ISA-L are made without allocation.
constexpr std::size_t kMostCombined = Code::kMostPositions;

// The same as gf_mul and gf_inv, which take and return unsigned char.
std::uint8_t product(std::uint8_t a, std::uint8_t b) { return gf_mul(a, b); }

}  // namespace

Combination::Combination(std::vector<std::uint8_t> coefficients) : coefficients_(std::move(coefficients)) {
  if (coefficients_.size() > kMostCombined) throw Error(FENIX_ERROR_INTERN, "a combination of too many sources");
  std::vector<unsigned char> row;
  for (std::size_t i = 0; i < coefficients_.size(); ++i) {
    if (coefficients_[i] == 0) continue;
    used_.push_back(i);
    row.push_back(coefficients_[i]);
  }
  if (std::all_of(row.begin(), row.end(), [](unsigned char each) { return each == 1; })) return;
  tables_.resize(row.size() * kTableOfCoefficient);
  ec_init_tables(static_cast<int>(row.size()), 1, row.data(), tables_.data());
  std::transform(row.begin(), row.end(), std::back_inserter(matrices_), matrix_of);
}

void Combination::apply(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores,
                        Simd simd) const {
  if (sources.size() != coefficients_.size()) throw Error(FENIX_ERROR_INTERN, "a combination of other sources");
  std::array<const std::byte*, kMostCombined> used;  // NOLINT(cppcoreguidelines-pro-type-member-init): as far as needed
  std::transform(used_.begin(), used_.end(), used.begin(), [&](std::size_t i) { return sources[i]; });
  const auto read = std::span(used).first(used_.size());
  if (tables_.empty()) {
    xor_bytes(target, read, stores, simd);
    return;
  }
  if (sum_of_products(target, read, matrices_, stores, simd)) return;

  // ISA-L reads them only, but does not say so, nor does it of the tables.
  std::array<unsigned char*, kMostCombined> from{};
  auto* const tables = const_cast<unsigned char*>(tables_.data());
  for (std::size_t at = 0; at < target.size(); at += kCombinedPiece) {
    const auto to = target.subspan(at, std::min(kCombinedPiece, target.size() - at));
    for (std::size_t i = 0; i < used_.size(); ++i) {
      from[i] = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(read[i] + at));
    }
    auto* result = reinterpret_cast<unsigned char*>(to.data());
    ec_encode_data(static_cast<int>(to.size()), static_cast<int>(used_.size()), 1, tables, from.data(), &result);
  }
}

void Combination::apply(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores) const {
  apply(target, sources, stores, simd());
}

Code::Code(int data, int parity) : data_(data), parity_(parity) {
  if (data < 1 || parity < 0 || parity > kMostParity || data + parity > kMostPositions) {
    throw Error(FENIX_ERROR_INVALID_POLICY_VALUE, "a code of " + std::to_string(data) + " data and " +
                                                      std::to_string(parity) + " parity positions does not exist");
  }
  if (parity == 0) return;
  const auto columns = static_cast<std::size_t>(data);
  const auto rows = static_cast<std::size_t>(parity);
  std::vector<unsigned char> matrix((columns + rows) * columns);
  gf_gen_cauchy1_matrix(matrix.data(), data + parity, data);
  rows_.assign(matrix.begin() + static_cast<std::ptrdiff_t>(columns * columns), matrix.end());
  // A column times a number leaves it a matrix of which every square part can be inverted. So the first parity, which
  // is what is needed most, can be the plain XOR.
  for (std::size_t column = 0; column < columns; ++column) {
    const std::uint8_t factor = gf_inv(rows_[column]);
    for (std::size_t row = 0; row < rows; ++row) {
      std::uint8_t& entry = rows_[row * columns + column];
      entry = product(entry, factor);
    }
  }
}

std::uint8_t Code::coefficient(int position, int data_position) const {
  if (position < data_) return position == data_position ? 1 : 0;
  return rows_[static_cast<std::size_t>((position - data_) * data_ + data_position)];
}

void Code::check_positions(int target, std::span<const int> sources) const {
  if (sources.size() != static_cast<std::size_t>(data_)) throw Error(FENIX_ERROR_INTERN, "too few positions of a code");
  std::bitset<kMostPositions> given;
  const auto add = [&](int position) {
    if (position < 0 || position >= data_ + parity_ || given[static_cast<std::size_t>(position)]) {
      throw Error(FENIX_ERROR_INTERN,
                  "position " + std::to_string(position) + " of a code does not exist or is there twice");
    }
    given.set(static_cast<std::size_t>(position));
  };
  for (const int source : sources) add(source);
  add(target);
}

// As many data positions are missing as there are parities among the sources. Those are, without what the data sources
// contribute, a square matrix times the missing ones; its inverse gives the missing ones: a row for each of them.
std::vector<std::uint8_t> Code::inverse(std::span<const int> parities, std::span<const int> missing) const {
  std::vector<unsigned char> square;
  for (const int parity : parities) {
    for (const int each : missing) square.push_back(coefficient(parity, each));
  }
  std::vector<unsigned char> result(square.size());
  if (!square.empty() && gf_invert_matrix(square.data(), result.data(), static_cast<int>(missing.size())) != 0) {
    throw Error(FENIX_ERROR_INTERN, "a part of the code's matrix cannot be inverted");
  }
  return result;
}

Combination Code::combination(int target, std::span<const int> sources) const {
  check_positions(target, sources);
  std::vector<int> missing;
  for (int position = 0; position < data_; ++position) {
    if (std::find(sources.begin(), sources.end(), position) == sources.end()) missing.push_back(position);
  }
  std::vector<int> parities;
  std::copy_if(sources.begin(), sources.end(), std::back_inserter(parities), [&](int each) { return each >= data_; });
  const auto solution = inverse(parities, missing);

  // The target through the missing positions: how much of each parity source it has.
  const std::size_t unknown = missing.size();
  std::vector<std::uint8_t> of_parity(unknown, 0);
  for (std::size_t i = 0; i < unknown; ++i) {
    for (std::size_t j = 0; j < unknown; ++j) {
      of_parity[i] ^= product(coefficient(target, missing[j]), solution[j * unknown + i]);
    }
  }
  std::vector<std::uint8_t> coefficients;
  std::size_t parities_so_far = 0;
  for (const int source : sources) {
    if (source >= data_) {
      coefficients.push_back(of_parity[parities_so_far++]);
      continue;
    }
    std::uint8_t own = coefficient(target, source);
    for (std::size_t i = 0; i < unknown; ++i) own ^= product(of_parity[i], coefficient(parities[i], source));
    coefficients.push_back(own);
  }
  return Combination(std::move(coefficients));
}

}  // namespace fenix_impl
