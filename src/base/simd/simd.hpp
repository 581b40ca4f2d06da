// SPDX-License-Identifier: BSD-3-Clause
// Which vector instructions the kernels of this process use. The rest of the library is compiled for any CPU.
#pragma once

#include <cstdint>
#include <span>

namespace fenix_impl {

/// Sets of kernels. Each of a CPU's is better than those before it.
enum class Simd : std::uint8_t { scalar, neon, avx2, avx512 };

/// The best one that this CPU has, or the one that FENIX_SIMD names, if the CPU has it. Does not change.
Simd simd();

/// All that this CPU has, from scalar to the best.
std::span<const Simd> available_simd();

/// As in FENIX_SIMD.
const char* name_of(Simd simd);

}  // namespace fenix_impl
