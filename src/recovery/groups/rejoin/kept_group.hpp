// SPDX-License-Identifier: BSD-3-Clause
// The description of a group on a rank for a process of the next job, which is to go on with its memory: all that is not in the regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/group.hpp"

namespace fenix_impl {

/// Returns the description. run: number of this job on its store. Local.
[[nodiscard]] std::vector<std::byte> describe_group(Group& group, std::uint32_t run);
/// Returns the descriptors of the regions, in the order of the description. They stay the group's. Local.
[[nodiscard]] std::vector<int> regions_of(Group& group);

/// Returns the group of a description, without a team: rejoin() takes it up, with its memory. process: that has the regions, as its open
/// files. Returns null unless the description is one of this rank, in a group of so many. Any bytes may be given. Local.
[[nodiscard]] std::unique_ptr<Group> group_described(std::span<const std::byte> description, std::int32_t process,
                                                     std::span<const std::int32_t> files, std::int32_t rank,
                                                     std::int32_t ranks);

}  // namespace fenix_impl
