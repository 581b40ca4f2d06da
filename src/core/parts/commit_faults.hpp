// SPDX-License-Identifier: BSD-3-Clause
// Fault points at which what has just been committed can be damaged: base/fault.hpp, action flip. Nothing in release builds.
// Passed when all ranks have made a commit (commit_barrier): before that, others may still be encoding.
#pragma once

#include "core/log/control.hpp"
#include "core/member/members.hpp"

namespace fenix_impl {

#ifdef FENIX_FAULT_INJECTION
/// Of the first member that has elements in the record: corrupt.own, corrupt.table, and with parity
/// corrupt.parity; corrupt.record.
void offer_own_to_faults(const Members& members, const Control& control, const LoggedRecord& logged, bool encodes);
/// Of the newest record of each rank of which this one keeps them: corrupt.held_record; and
/// with copies, of its first member that has elements, corrupt.held and corrupt.held_table.
void offer_held_to_faults(const Members& members, const Control& control, bool encodes);
#else
inline void offer_own_to_faults(const Members&, const Control&, const LoggedRecord&, bool) {}
inline void offer_held_to_faults(const Members&, const Control&, bool) {}
#endif

}  // namespace fenix_impl
