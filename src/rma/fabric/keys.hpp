// SPDX-License-Identifier: BSD-3-Clause
// Keys of registered memory.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {

/// Remembers the keys that this process has given out. No key is given out twice: a write of a rank that counts as dead may still
/// be on its way under it. Several threads may use it at once.
class FabricKeys {
 public:
  /// Returns a registration whose key is a new one. make registers the memory, key_of tells the key. Throws
  /// Error(FENIX_ERROR_NO_MEMORY) if the provider has none.
  template <class Make, class KeyOf>
  auto take_new(Make&& make, KeyOf&& key_of) -> decltype(make()) {
    // They are held until the end: otherwise the provider would choose the same key again.
    std::vector<decltype(make())> tried;
    constexpr int kMostTries = 64;
    for (int i = 0; i < kMostTries; ++i) {
      tried.push_back(make());
      if (is_new(key_of(tried.back()))) return std::move(tried.back());
    }
    throw Error(FENIX_ERROR_NO_MEMORY, "the network has no key for memory that was not used before");
  }

 private:
  bool is_new(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    return given_.insert(key).second;
  }

  std::mutex mutex_;
  std::set<std::uint64_t> given_;
};

}  // namespace fenix_impl
