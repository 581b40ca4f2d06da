// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/commit_faults.hpp"

#ifdef FENIX_FAULT_INJECTION

#include "base/environment.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

// Looking for the bytes takes time, and memory.
bool wanted() { return environment::is_set("FENIX_FAULT"); }

/// Returns the first member that has elements in the record, and its version; both null if there is none.
std::pair<const Member*, const MemberVersion*> first_version(const Members& members, const Record& record) {
  for (const auto& member : members) {
    const MemberVersion* version = version_in(record, *member);
    if (version != nullptr && version->bytes() > 0) return {member.get(), version};
  }
  return {nullptr, nullptr};
}

std::span<std::byte> table_of(const SlotView& slot, const MemberVersion& version) {
  return std::as_writable_bytes(slot.table.first(hash_blocks(version.bytes())));
}

}  // namespace

void offer_own_to_faults(const Members& members, const Control& control, const LoggedRecord& logged, bool encodes) {
  if (!wanted()) return;
  if (const auto [member, version] = first_version(members, logged.record); member != nullptr) {
    const SlotView own = member->memory.own_slot(version->slot);
    fault_point("corrupt.own", own.data.first(version->bytes()));
    fault_point("corrupt.table", table_of(own, *version));
    if (encodes) fault_point("corrupt.parity", member->memory.held_slot(version->slot).data);
  }
  fault_point("corrupt.record", control.own_log.entry(logged.entry).first(record_bytes(logged.record)));
}

void offer_held_to_faults(const Members& members, const Control& control, bool encodes) {
  if (!wanted()) return;
  for (const RecordLog& log : control.held_logs) {
    const auto records = log.read_all();
    if (records.empty()) continue;
    const auto& [record, entry] = records.back();
    if (const auto [member, version] = first_version(members, record); member != nullptr && !encodes) {
      const SlotView held = member->memory.held_slot(version->slot);
      fault_point("corrupt.held", held.data.first(version->bytes()));
      fault_point("corrupt.held_table", table_of(held, *version));
    }
    fault_point("corrupt.held_record", log.entry(entry).first(record_bytes(record)));
  }
}

}  // namespace fenix_impl

#endif
