// SPDX-License-Identifier: BSD-3-Clause
// Mending a slot in which some bytes are wrong, from bytes that can be had elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/simd/slot_hashes.hpp"
#include "core/log/record.hpp"

namespace fenix_impl {

/// Gets bytes that should be in a slot from somewhere else. They may be wrong, too.
using Reader = std::function<void(std::uint64_t begin, std::span<std::byte> part)>;
/// Calls attempt with one reader after the other until it returns true. Returns false if it never does.
using Readers = std::function<bool(const std::function<bool(const Reader&)>& attempt)>;

/// Makes table and elements of a slot match the version's hash, block by block. Other ranks may read the slot in the
/// meantime: only right bytes are written, and only where the slot was wrong. True if all of it is right now.
[[nodiscard]] bool mend_slot(const SlotView& slot, const MemberVersion& version, const Readers& readers);

}  // namespace fenix_impl
