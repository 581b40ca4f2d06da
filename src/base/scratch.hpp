// SPDX-License-Identifier: BSD-3-Clause
// Memory for the length of a call, without values. Much of it comes in large pages, where the system has them: small ones would take
// longer to get than to fill.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "base/pages.hpp"

namespace fenix_impl {

class Scratch {
 public:
  /// Throws std::bad_alloc.
  explicit Scratch(std::size_t bytes)
      : bytes_(bytes), memory_(::operator new(bytes, alignment(bytes)), Free{alignment(bytes)}) {
    if (bytes >= kLarge) (void)::madvise(memory_.get(), bytes, MADV_HUGEPAGE);
  }

  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_.get()), bytes_}; }

 private:
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;
  static constexpr std::size_t kLarge = 2 * kLargePage;

  // Files that are read past the memory of the system want whole pages.
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= kLarge ? kLargePage : bytes >= kPage ? kPage : 64};
  }

  struct Free {
    std::align_val_t alignment;
    void operator()(void* memory) const { ::operator delete(memory, alignment); }
  };

  std::size_t bytes_;
  std::unique_ptr<void, Free> memory_;
};

}  // namespace fenix_impl
