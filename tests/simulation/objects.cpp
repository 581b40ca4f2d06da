// SPDX-License-Identifier: BSD-3-Clause
#include "objects.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace fenix_simulation {
namespace {

constexpr std::uintptr_t kBegin = 0x2c00'0000'0000;
constexpr std::size_t kMost = std::size_t{16} << 30;
constexpr std::size_t kAlignment = 64;

std::byte* range() {
  static auto* const begin = [] {
    void* memory = mmap(reinterpret_cast<void*>(kBegin), kMost, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(memory);
  }();
  return begin;
}

}  // namespace

Objects::Objects() = default;

Objects::~Objects() {
  for (auto each = enders_.rbegin(); each != enders_.rend(); ++each) each->end(each->object);
}

void* Objects::take(std::size_t bytes) {
  void* place = range() + used_;
  used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used_ > kMost) std::abort();
  return place;
}

}  // namespace fenix_simulation
