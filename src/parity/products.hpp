// SPDX-License-Identifier: BSD-3-Clause
// Sums of products in GF(2^8), by the instructions that multiply bytes by a matrix of bits (GFNI).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/simd/copy.hpp"
#include "base/simd/simd.hpp"

namespace fenix_impl {

/// A coefficient as a matrix over bits: the row of the highest byte makes the lowest bit of a product.
std::uint64_t matrix_of(std::uint8_t coefficient);

/// The least number of bytes that are summed up.
inline constexpr std::size_t kLeastOfProducts = 64;

/// target = sum of matrix × source. There is a source for each matrix, at least one, of at least target.size() bytes, which does
/// not overlap the target. Nothing needs to be aligned. False, and nothing is done, if the CPU has no such instructions in
/// this set, or the target is smaller than kLeastOfProducts.
bool sum_of_products(std::span<std::byte> target, std::span<const std::byte* const> sources,
                     std::span<const std::uint64_t> matrices, Stores stores, Simd simd);

}  // namespace fenix_impl
