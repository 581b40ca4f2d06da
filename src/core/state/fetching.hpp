// SPDX-License-Identifier: BSD-3-Clause
// Fetching data that some rank has stored, from any rank that has it: the rank itself, a copy, or the redundancy set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/common/group_parameters.hpp"
#include "core/log/record.hpp"
#include "core/state/archive.hpp"
#include "parity/placement.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// A version that was fetched and verified.
struct Fetched {
  MemberVersion version;
  std::vector<std::byte> data;
};

/// The holdings of the ranks, and the way to them.
struct FetchFrom {
  const GroupParameters& parameters;
  const Placement& placement;  ///< of the shape in which the data was stored
  /// By rank: at least of the ranks that have some of the data, or protect it.
  const std::map<int, Holdings>& holdings;
  RemoteRegions& control;
  RemoteRegions& data;
};

/// Fetches the version that a rank of that shape has stored. Returns nullopt if no sound version can be had.
[[nodiscard]] std::optional<Fetched> fetch_version(const FetchFrom& from, std::int32_t member_id, int stored_by);

}  // namespace fenix_impl
