// SPDX-License-Identifier: BSD-3-Clause
// Agreement before a store: attributes of members are compared, and memory grows where some rank needs more. Collective.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"
#include "core/steps/staging.hpp"

namespace fenix_impl {

class AgreeOnSizes {
 public:
  explicit AgreeOnSizes(const OperationContext& context) : context_(context), staging_(context) {}

  /// Whether a store of the members has to begin with it.
  [[nodiscard]] bool is_needed(std::span<Member* const> members) const;
  /// Elements of open-ended members are staged here: their number shows when they have been written. All ranks get to know what
  /// check throws.
  void run(std::span<Member* const> members, const Selection& selection, const std::function<void()>& check);
  /// Takes in what all ranks have said of a member, so that replacements get to know it. Leaves its memory to the next store if a rank
  /// has staged elements, is using memory to do so, or has too little.
  void take_in_definition(Member& member);

 private:
  void agree_on_kinds(std::span<Member* const> members);
  void drop_beyond(Member& member);
  [[nodiscard]] Counts wanted_counts(const Member& member, std::uint64_t needed);
  void agree_on(Member& member, std::uint64_t needed);
  void grow(Member& member, Counts counts, std::uint32_t slots);

  const OperationContext& context_;
  Staging staging_;
};

}  // namespace fenix_impl
