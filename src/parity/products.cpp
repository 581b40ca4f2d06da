// SPDX-License-Identifier: BSD-3-Clause
#include "parity/products.hpp"

#include <isa-l/erasure_code.h>

#include "base/simd/vectors.hpp"

namespace fenix_impl {
namespace {

static_assert(kLeastOfProducts == kLine);

using ProductKernel = void (*)(std::byte* target, std::size_t bytes, const std::byte* const* sources,
                               const std::uint64_t* matrices, std::size_t count);

struct ProductKernels {
  ProductKernel cached;
  ProductKernel streaming;
};

#if defined(__x86_64__)
namespace with_avx2 {
using namespace avx2;
#define FENIX_KERNEL FENIX_AVX2_GFNI
#include "parity/products_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx2
namespace with_avx512 {
using namespace avx512;
#define FENIX_KERNEL FENIX_AVX512_GFNI
#include "parity/products_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx512
#endif

const ProductKernels* product_kernels([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd != Simd::avx2 && simd != Simd::avx512) return nullptr;
  static const bool has_gfni = __builtin_cpu_supports("gfni") != 0;
  if (!has_gfni) return nullptr;
  return simd == Simd::avx512 ? &with_avx512::kKernels : &with_avx2::kKernels;
#else
  return nullptr;
#endif
}

}  // namespace

std::uint64_t matrix_of(std::uint8_t coefficient) {
  std::uint64_t matrix = 0;
  for (unsigned column = 0; column < 8; ++column) {
    const std::uint64_t product = gf_mul(coefficient, static_cast<unsigned char>(1U << column));
    for (unsigned bit = 0; bit < 8; ++bit) matrix |= ((product >> bit) & 1U) << ((7 - bit) * 8 + column);
  }
  return matrix;
}

bool sum_of_products(std::span<std::byte> target, std::span<const std::byte* const> sources,
                     std::span<const std::uint64_t> matrices, Stores stores, Simd simd) {
  const ProductKernels* kernels = product_kernels(simd);
  if (kernels == nullptr || target.size() < kLeastOfProducts) return false;
  const ProductKernel kernel = stores == Stores::streaming ? kernels->streaming : kernels->cached;
  kernel(target.data(), target.size(), sources.data(), matrices.data(), matrices.size());
  if (stores == Stores::streaming) end_streaming();
  return true;
}

}  // namespace fenix_impl
