// SPDX-License-Identifier: BSD-3-Clause
// A version of a member, in memory, as the store takes it: what is given has been verified after it was copied, so a slot that is used
// anew meanwhile is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/log/record.hpp"
#include "store/dataset_writer.hpp"

namespace fenix_impl {

/// data: the slot up to the last element with a value; table: of the slot. Both have to stay, and may change. hashed: whether the group
/// has hashes; without them, nothing is verified.
[[nodiscard]] MemberSource source_of(const MemberVersion& version, std::span<const std::byte> data,
                                     std::span<const std::uint64_t> table, bool hashed);

}  // namespace fenix_impl
