// SPDX-License-Identifier: BSD-3-Clause
#include "base/simd/simd.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/environment.hpp"

namespace fenix_impl {
namespace {

bool has(Simd simd) {
  switch (simd) {
    case Simd::scalar:
      return true;
#if defined(__aarch64__)
    case Simd::neon:
      return true;
#endif
#if defined(__x86_64__)
    // Asks for the operating system's consent as well.
    case Simd::avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case Simd::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0;
#endif
    default:
      return false;
  }
}

Simd chosen() {
  const Simd best = available_simd().back();
  const std::string_view wanted = environment::word("FENIX_SIMD");
  for (const Simd each : available_simd()) {
    if (wanted == name_of(each)) return each;
  }
  return best;
}

}  // namespace

std::span<const Simd> available_simd() {
  struct Found {
    std::array<Simd, 4> sets{};
    std::size_t count = 0;
  };
  static const Found found = [] {
    Found result;
    for (const Simd each : {Simd::scalar, Simd::neon, Simd::avx2, Simd::avx512}) {
      if (has(each)) result.sets[result.count++] = each;
    }
    return result;
  }();
  return std::span(found.sets).first(found.count);
}

Simd simd() {
  static const Simd simd = chosen();
  return simd;
}

const char* name_of(Simd simd) {
  switch (simd) {
    case Simd::neon:
      return "neon";
    case Simd::avx2:
      return "avx2";
    case Simd::avx512:
      return "avx512";
    default:
      return "scalar";
  }
}

}  // namespace fenix_impl
