// SPDX-License-Identifier: BSD-3-Clause
// The part of one writer: where the data of its ranks is in the data file. The part's existence says that all of it is there.
// docs/store-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/dataset_name.hpp"

namespace fenix_impl {

/// Data of a member of one rank, in the data file.
struct Extent {
  /// A hash covers so many bytes; the last one of an extent may cover fewer.
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 20U;

  std::int32_t member = 0;
  std::uint64_t offset = 0;  ///< in the data file, a multiple of FileSystem::kAlignment
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> hashes;  ///< of its pieces

  bool operator==(const Extent&) const = default;
  [[nodiscard]] static std::size_t pieces(std::uint64_t bytes) {
    return static_cast<std::size_t>(bytes / kPiece + (bytes % kPiece != 0 ? 1 : 0));
  }
};

struct StoredRank {
  std::int32_t rank = 0;
  std::vector<std::byte> record;  ///< of the commit; the store does not look into it
  std::vector<Extent> extents;

  bool operator==(const StoredRank&) const = default;
  /// Returns the data of a member, or null.
  [[nodiscard]] const Extent* find(std::int32_t member) const;
};

struct StoredPart {
  std::uint32_t writer = 0;
  std::uint32_t attempt = 0;     ///< number in the name of the data file
  std::uint64_t data_bytes = 0;  ///< size of the data file
  std::vector<StoredRank> ranks;

  bool operator==(const StoredPart&) const = default;
};

/// Return the names of the files of a writer.
[[nodiscard]] std::string part_file(std::uint32_t writer);
[[nodiscard]] std::string data_file(std::uint32_t writer, std::uint32_t attempt);

/// Returns the bytes of the file.
[[nodiscard]] std::vector<std::byte> encode(const DatasetName& name, const StoredPart& part);
/// Returns nullopt unless the bytes are those of this writer's part. Then all extents lie in the data file, beside each other. Any bytes
/// may be given.
[[nodiscard]] std::optional<StoredPart> decode_part(const DatasetName& name, std::uint32_t writer,
                                                    std::span<const std::byte> file);

}  // namespace fenix_impl
