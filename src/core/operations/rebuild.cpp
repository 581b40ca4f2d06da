// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/rebuild.hpp"

#include <algorithm>
#include <optional>

#include "base/fault.hpp"

namespace fenix_impl {
namespace {

std::optional<std::uint32_t> entry_of(const CommittedEpochs& epochs, Epoch epoch) {
  if (!epochs) return std::nullopt;
  const auto found =
      std::find_if(epochs->begin(), epochs->end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
  return found == epochs->end() ? std::nullopt : std::optional(found->entry);
}

}  // namespace

std::vector<Epoch> Rebuild::rebuild_own(std::span<const CommitLog::RecordCopy> copies, const std::set<int>& missing,
                                        const std::set<MemberSlot>& there) {
  std::vector<Epoch> whole;
  for (const CommitLog::RecordCopy& each : copies) {
    if (each.entry >= context_.log.memory().entries()) continue;
    if (rebuild_own_epoch(each, missing, there)) whole.push_back(each.epoch);
    fault_point("rejoin.half_rebuilt");
  }
  return whole;
}

bool Rebuild::rebuild_own_epoch(const CommitLog::RecordCopy& copy, const std::set<int>& missing,
                                const std::set<MemberSlot>& there) {
  const GroupRanks& ranks = context_.attachment.ranks();
  const Control& control = context_.control();
  const RecordLog& copies = control.held_logs.at(static_cast<std::size_t>(copy.copy));
  const int holder = ranks.placement.holder(ranks.rank, copy.copy);
  const auto record = record_at(*control.remote, holder, copies.offset(copy.entry), copy.epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    Member* member = context_.members.find(version.member_id);
    // The member has been deleted since.
    if (member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.slot >= member->memory.layout().slots() || version.element_bytes != member->element_bytes())
      return false;
    if (version.bytes() > member->memory.layout().own_bytes()) return false;
    const bool made = there.count({version.member_id, version.slot}) != 0 ||
                      context_.protection().rebuild_own(*member, version, copy.epoch, missing);
    if (!made) return false;
    if (context_.parameters.commits_in_place()) member->memory.note_own(version.stored_in);
  }
  control.own_log.put(copy.entry, *record);
  return true;
}

std::vector<Epoch> Rebuild::rebuild_held(std::span<const Epoch> epochs, std::span<const CommittedEpochs> at_owners) {
  std::vector<Epoch> whole;
  for (const Epoch epoch : epochs) {
    bool all = true;
    for (int copy = 0; copy < context_.attachment.ranks().placement.copies() && all; ++copy) {
      const auto entry = entry_of(at_owners[static_cast<std::size_t>(copy)], epoch);
      all = entry && *entry < context_.log.memory().entries() && rebuild_held_epoch(epoch, *entry, copy);
    }
    if (all) whole.push_back(epoch);
  }
  return whole;
}

bool Rebuild::rebuild_held_epoch(Epoch epoch, std::uint32_t entry, int copy) {
  const GroupRanks& ranks = context_.attachment.ranks();
  const Control& control = context_.control();
  const RecordLog& log = control.held_logs[static_cast<std::size_t>(copy)];
  const auto there = log.read(entry);
  if (there && there->epoch == epoch && !there->deleted) return true;
  const int owner = ranks.placement.kept(ranks.rank, copy);
  const auto record = record_at(*control.remote, owner, control.own_log.offset(entry), epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    Member* member = context_.members.find(version.member_id);
    if (!context_.protection().holds_copies() || member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.element_bytes != member->element_bytes()) return false;
    if (!context_.protection().mend_held(*member, version, epoch)) return false;
  }
  log.put(entry, *record);
  return true;
}

}  // namespace fenix_impl
