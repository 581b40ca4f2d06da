// SPDX-License-Identifier: BSD-3-Clause
// The name of a dataset: the snapshot of a group, made in a run of the program. No clock has a part in it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace fenix_impl {

struct DatasetName {
  std::int32_t group = 0;
  std::int32_t time_stamp = 0;  ///< not negative
  std::uint32_t run = 0;        ///< of the jobs on this store, from 1 on
  std::uint32_t generation =
      0;  ///< of the group in this run: a time stamp may come again after a repair, with other data

  auto operator<=>(const DatasetName&) const = default;
  /// Returns "group.time stamp.run.generation", the name of its folder.
  [[nodiscard]] std::string text() const;
  /// Returns nullopt for a text that text() does not return.
  [[nodiscard]] static std::optional<DatasetName> parse(const std::string& text);
};

/// Whether a dataset is older than another one: of an earlier run, in a run of an earlier generation, and in that of an earlier time.
[[nodiscard]] bool is_older(const DatasetName& a, const DatasetName& b);

}  // namespace fenix_impl
