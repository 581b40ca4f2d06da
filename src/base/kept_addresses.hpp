// SPDX-License-Identifier: BSD-3-Clause
// Memory at addresses that nobody else ever gets, malloc included: what the application was lent is known for the library's, whenever it
// comes back.
#pragma once

#include <cstddef>
#include <vector>

namespace fenix_impl {

class KeptAddresses {
 public:
  /// Takes zero-filled memory. Throws std::bad_alloc.
  static std::byte* take(std::size_t bytes);
  /// Gives the memory back to the system. The addresses stay, for the next one who takes.
  static void give_back(std::byte* memory) noexcept;
  /// Whether memory there was ever taken, given back or not.
  [[nodiscard]] static bool have(const void* address);
};

/// Takes memory there.
template <class T>
struct KeptAllocator {
  using value_type = T;
  KeptAllocator() = default;
  template <class Other>
  KeptAllocator(const KeptAllocator<Other>&) {}  // NOLINT(google-explicit-constructor): as the standard has it
  [[nodiscard]] T* allocate(std::size_t count) { return reinterpret_cast<T*>(KeptAddresses::take(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { KeptAddresses::give_back(reinterpret_cast<std::byte*>(memory)); }
  friend bool operator==(const KeptAllocator&, const KeptAllocator&) { return true; }
};

/// Staged elements that the slot has no room for: the application may be writing to them.
using Spill = std::vector<std::byte, KeptAllocator<std::byte>>;

}  // namespace fenix_impl
