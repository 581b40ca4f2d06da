// SPDX-License-Identifier: BSD-3-Clause
// The part of a checkpoint that one rank has, as the bytes of a member of Fenix: a head of fixed size, and a body. The body has either
// files, one after the other, or a list of files that are in their own places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scr/cache.hpp"
#include "scr/file_copy.hpp"

namespace scr_impl {

struct PackageHead {
  std::uint64_t id = 0;       ///< number of the dataset
  std::uint64_t count = 0;    ///< number of the checkpoint
  std::uint32_t flags = 0;    ///< of SCR_Start_output
  bool is_list = false;       ///< files are in their own places
  std::uint64_t created = 0;  ///< microseconds since 1970: tells datasets of one name apart
  std::uint64_t files = 0;    ///< their number
  std::uint64_t bytes = 0;    ///< all that follows the head
  std::string name;           ///< of the dataset
};

/// A file in its own place.
struct ListedFile {
  std::string name;  ///< relative to the prefix folder
  FileSeal seal;
  bool is_own = true;  ///< this rank looks whether it is as it was: one rank does, of those that have written it
};

constexpr std::size_t kHeadBytes = 48 + 1024;

/// Writes head and files. Fails if a file cannot be read, or changes meanwhile.
bool pack(std::FILE* to, PackageHead head, const std::vector<CachedFile>& files);
/// Writes head and list.
bool pack_list(std::FILE* to, PackageHead head, const std::vector<ListedFile>& files);

/// Reads kHeadBytes bytes. Returns nothing for bytes that are no head.
std::optional<PackageHead> read_head(std::span<const std::byte> bytes);

/// Writes the files of a package, with its head, to the cache. Fails for a package that is not whole.
bool unpack(std::span<const std::byte> package, Cache& cache);
/// Reads the list of a package. Returns nothing if it is not whole.
std::optional<std::vector<ListedFile>> unpack_list(std::span<const std::byte> package);

}  // namespace scr_impl
