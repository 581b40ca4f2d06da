// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of members as bytes, for ranks that have to learn of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/member/member.hpp"

namespace fenix_impl {

[[nodiscard]] std::vector<std::byte> encode_members(std::span<const MemberInfo> members);

/// Reads descriptions. Any bytes may be given. Throws Error(FENIX_ERROR_INTERN) for bytes that encode_members cannot
/// have written.
[[nodiscard]] std::vector<MemberInfo> decode_members(std::span<const std::byte> bytes);

}  // namespace fenix_impl
