// SPDX-License-Identifier: BSD-3-Clause
// How much of the caches a process can count on.
#pragma once

#include <cstdint>
#include <string>

namespace fenix_impl {

/// The caches behind the first level, as the kernel describes them.
struct Caches {
  std::uint64_t second = std::uint64_t{1} << 20;  ///< bytes of a processor's second level
  std::uint64_t last = std::uint64_t{32} << 20;   ///< bytes of one cache of the last level
  std::uint64_t number = 1;                       ///< how many of those there are on this node

  /// Bytes of a process where so many of them are spread evenly over the node. processes >= 1.
  [[nodiscard]] std::uint64_t share_of(std::uint64_t processes) const;
};

/// Reads them under root ("" for this system). Files that are missing leave the default. processors: those of the node.
Caches read_caches(const std::string& root, std::uint64_t processors);

}  // namespace fenix_impl
