// SPDX-License-Identifier: BSD-3-Clause
// The parity of bytes in memory.
#pragma once

#include <cstddef>
#include <span>

#include "base/simd/copy.hpp"
#include "base/simd/simd.hpp"

namespace fenix_impl {

/// target = XOR of all sources, each of at least target.size() bytes; zeros if there are none. Nothing needs to be aligned.
/// The target itself may be among the sources; otherwise they do not overlap it.
void xor_bytes(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores);

/// The same with the kernels of one set, which this CPU must have. For tests: scalar is what others are compared with.
void xor_bytes(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores, Simd simd);

}  // namespace fenix_impl
