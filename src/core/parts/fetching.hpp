// SPDX-License-Identifier: BSD-3-Clause
// Data that some rank has stored, wherever it can be had from: itself, a copy, or its cohort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/common/group_parameters.hpp"
#include "core/log/record.hpp"
#include "core/parts/archive.hpp"
#include "parity/placement.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// A version as it was fetched, verified.
struct Fetched {
  MemberVersion version;
  std::vector<std::byte> data;
};

/// What ranks have, and how to reach it.
struct FetchFrom {
  const GroupParameters& parameters;
  const Placement& placement;  ///< of the shape in which the data was stored
  /// By rank of the remote regions: at least of those that have some of it, or protect it.
  const std::map<int, Holdings>& holdings;
  RemoteRegions& control;
  RemoteRegions& data;
};

/// What a rank of that shape has stored. nullopt if no sound version can be had.
[[nodiscard]] std::optional<Fetched> fetch_version(const FetchFrom& from, std::int32_t member_id, int stored_by);

}  // namespace fenix_impl
