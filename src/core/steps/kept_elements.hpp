// SPDX-License-Identifier: BSD-3-Clause
// The elements that a snapshot keeps from the one before, in blocks that a commit touches. Damage in them has to be found before: a
// new hash of the block would make it valid, and a copy of it would replace the undamaged one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/log/record.hpp"
#include "core/member/member.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

class KeptElements {
 public:
  /// Checks the kept elements in all blocks of which elements were stored or carried over, and mends them. base: the member's version in
  /// the latest snapshot, with hashes. The working slot has all elements by now. Throws Error(FENIX_ERROR_NODATA_FOUND) if they are
  /// damaged beyond repair.
  void check(const OperationContext& context, Member& member, const MemberVersion& base, const IntervalSet& carried);

 private:
  [[nodiscard]] std::span<const std::byte> as_before(const Member& member, const MemberVersion& base,
                                                     const IntervalSet& kept, std::uint64_t block, bool in_place);

  std::vector<std::byte> joined_;  // a block of which the working slot has a part only
};

}  // namespace fenix_impl
