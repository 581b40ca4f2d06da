// SPDX-License-Identifier: BSD-3-Clause
// The list of all parts of a dataset. It saves tools the way through all of them, and says nothing that they do not say: the same bytes,
// whoever writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/file_system.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

struct Manifest {
  struct Entry {
    std::uint64_t part_bytes = 0;
    std::uint64_t part_hash = 0;  ///< of all bytes of the part's file
    std::uint64_t data_bytes = 0;

    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> parts;  ///< by writer

  bool operator==(const Manifest&) const = default;
};

/// Returns the manifest of a dataset, from its parts; nullopt if one is missing or damaged. Throws StoreError.
[[nodiscard]] std::optional<Manifest> manifest_of(FileSystem& files, const std::string& folder,
                                                  const DatasetPlan& plan);

/// Returns the bytes of the file.
[[nodiscard]] std::vector<std::byte> encode(const DatasetName& name, const Manifest& manifest);
/// Returns nullopt unless the bytes are those of a manifest of this dataset. Any bytes may be given.
[[nodiscard]] std::optional<Manifest> decode_manifest(const DatasetName& name, std::span<const std::byte> file);

}  // namespace fenix_impl
