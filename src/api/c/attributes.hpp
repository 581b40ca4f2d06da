// SPDX-License-Identifier: BSD-3-Clause
// The attributes of members that functions of several files set.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <cstdint>
#include <memory>

#include "core/group.hpp"

namespace fenix_impl {

/// Returns the largest number of elements. With more elements, the number of bytes could wrap around to a small one.
[[nodiscard]] inline std::uint64_t most_elements(const ElementType& type) {
  return (std::uint64_t{1} << 60) / type.bytes();
}

/// Throws Error if a count is too large, or is another one than that of a member that has been stored.
void check_count(const Group& group, const Member& member, MPI_Count count);
/// Throws Error if a type is another one than that of a member that has been stored.
void check_type(const Group& group, const Member& member, const ElementType& type);

/// Sets the count of a member on this rank, if nothing of it has been stored. FENIX_RESIZEABLE makes it resizeable, if the other ranks do
/// the same.
void set_count(const Group& group, Member& member, std::uint64_t count);
void set_type(Member& member, std::shared_ptr<const ElementType> type);

/// Gets an attribute of a member of this rank, as Fenix_Data_member_attr_get does for its own rank. Local.
int get_own_attribute(int group_id, int member_id, int name, void* value, int* flag);

}  // namespace fenix_impl
