// SPDX-License-Identifier: BSD-3-Clause
// Fault points at which a commit can be damaged: base/fault.hpp, action flip. There are none in release builds. They
// are passed when all ranks have made a commit (commit_barrier): before that, others may still be encoding.
#pragma once

#include "core/log/control.hpp"
#include "core/member/members.hpp"

namespace fenix_impl {

#ifdef FENIX_FAULT_INJECTION
/// Passes corrupt.own, corrupt.table and, with parity, corrupt.parity for the first member that has elements in the
/// record; then corrupt.record.
void offer_own_to_faults(const Members& members, const Control& control, const LoggedRecord& logged, bool encodes);
/// Passes corrupt.held_record for the newest record of each rank of which this one holds copies; with copies of data,
/// corrupt.held and corrupt.held_table for its first member that has elements.
void offer_held_to_faults(const Members& members, const Control& control, bool encodes);
#else
inline void offer_own_to_faults(const Members&, const Control&, const LoggedRecord&, bool) {}
inline void offer_held_to_faults(const Members&, const Control&, bool) {}
#endif

}  // namespace fenix_impl
