// SPDX-License-Identifier: BSD-3-Clause
// The files that a rank has in a checkpoint, as the bytes of a member of Fenix: a head of fixed size, and the files one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scr/cache.hpp"

namespace scr_impl {

struct PackageHead {
  std::uint64_t id = 0;     ///< number of the dataset
  std::uint64_t count = 0;  ///< number of the checkpoint
  std::uint32_t flags = 0;  ///< of SCR_Start_output
  std::uint64_t files = 0;  ///< their number
  std::uint64_t bytes = 0;  ///< all that follows the head
  std::string name;         ///< of the dataset
};

constexpr std::size_t kHeadBytes = 48 + 1024;

/// Writes head and files. Fails if a file cannot be read, or changes meanwhile.
bool pack(std::FILE* to, PackageHead head, const std::vector<CachedFile>& files);

/// Reads kHeadBytes bytes. Returns nothing for bytes that are no head.
std::optional<PackageHead> read_head(std::span<const std::byte> bytes);

/// Writes the files of a package, with its head, to the cache. Fails for a package that is not whole.
bool unpack(std::span<const std::byte> package, Cache& cache);

}  // namespace scr_impl
