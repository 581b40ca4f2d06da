// SPDX-License-Identifier: BSD-3-Clause
// The first file of a dataset: what belongs to it, and who writes it. docs/store-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/dataset_name.hpp"

namespace fenix_impl {

/// The parameters of the group, as its creation needs them.
struct StoredGroup {
  std::int32_t start_time_stamp = 0;
  std::int32_t depth = 0;
  std::int32_t hashing = 1;
  std::int32_t in_place = 0;
  std::int32_t policy = 0;  ///< number of its kind
  std::int32_t separation = 0;
  std::int32_t set_size = 0;
  std::int32_t losses = 0;

  bool operator==(const StoredGroup&) const = default;
};

struct StoredMember {
  std::int32_t id = 0;
  std::uint32_t element_bytes = 0;
  std::vector<std::byte> type;  ///< description of the datatype; the store does not look into it

  bool operator==(const StoredMember&) const = default;
};

struct DatasetPlan {
  DatasetName name;
  std::string label;  ///< of the user, or empty
  std::uint64_t epoch = 0;
  StoredGroup group;
  std::vector<StoredMember> members;
  std::vector<std::uint32_t> writers;  ///< by rank: number of the writer, from 0 on without gaps

  bool operator==(const DatasetPlan&) const = default;
  [[nodiscard]] std::uint32_t number_of_writers() const;
};

/// Returns the bytes of the file.
[[nodiscard]] std::vector<std::byte> encode(const DatasetPlan& plan);
/// Returns nullopt unless the bytes are those of a plan for a dataset with this name. Any bytes may be given.
[[nodiscard]] std::optional<DatasetPlan> decode_plan(const DatasetName& name, std::span<const std::byte> file);

}  // namespace fenix_impl
