// SPDX-License-Identifier: BSD-3-Clause
// Memory of control and members, and the ways to that of other ranks: collective steps that several operations consist of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Learns how much the witnesses of this rank have of each member; what is known of other ranks stays. Collective.
void learn_counts(const OperationContext& context, std::span<const std::unique_ptr<Member>> members);

/// Returns the layout that a member's region needs, if slots have room for so many elements. Local.
[[nodiscard]] SlotLayout wanted_layout(const OperationContext& context, const Member& member, const Counts& counts,
                                       std::uint32_t slots);

/// Takes the memory that a member lacks for its counts, and for its buffer if that is the library's. Local; throws
/// Error(FENIX_ERROR_NO_MEMORY).
void take_member_memory(const OperationContext& context, Member& member);

/// Makes a control region, or a region of a member, reachable for all ranks. Collective, jointly successful.
[[nodiscard]] std::unique_ptr<RemoteRegions> expose_control(const OperationContext& context, const Region& region);
[[nodiscard]] MemberMemory::Exposed expose_member(const OperationContext& context, const Member& member,
                                                  const Region& region, const SlotLayout& layout);

/// Makes the buffer of a member reachable for all ranks, if the library has its memory. Collective, jointly successful.
void expose_buffer(const OperationContext& context, Member& member);

/// Makes sure that the buffers of all members are reached where a policy that is new to the group reads them. Collective, jointly
/// successful.
void reach_buffers(const OperationContext& context);

/// Maps what first writes to a member need, while there is time: recovery is the sooner done. Local.
void prepare_member(const OperationContext& context, const Member& member);

/// Puts another control region in the place of the one that there is. All ranks are here: peers write no progress and no records
/// meanwhile.
void replace_control(const OperationContext& context, Control control);

}  // namespace fenix_impl
