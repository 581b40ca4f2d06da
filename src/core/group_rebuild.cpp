// SPDX-License-Identifier: BSD-3-Clause
// Rebuild: a rank that took a dead one's place fetches what that one had. Its peers do nothing.
#include <algorithm>
#include <utility>

#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/group.hpp"

namespace fenix_impl {
namespace {

bool contains(std::span<const Epoch> epochs, Epoch epoch) {
  return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end();
}

void keep_only_in(const RecordLog& log, std::span<const Epoch> epochs) {
  for (const Record& record : log.read_all()) {
    if (!contains(epochs, record.epoch)) log.clear(record.epoch);
  }
}

}  // namespace

std::vector<Epoch> Group::epochs_in(const RecordLog& log, int owner) const {
  std::vector<Epoch> epochs;
  for (const Record& record : log.read_all()) {
    if (record.group_id == parameters_.id && record.owner == owner) epochs.push_back(record.epoch);
  }
  return epochs;
}

std::vector<Epoch> Group::own_epochs() const { return epochs_in(own_log_, team_rank_); }

std::vector<Epoch> Group::held_epochs() const {
  return is_protected() ? epochs_in(held_log_, held()) : std::vector<Epoch>{};
}

void Group::keep_only(std::span<const Epoch> epochs) {
  keep_only_in(own_log_, epochs);
  fault_point("rejoin.half_voided");
  keep_only_in(held_log_, epochs);
}

std::vector<Epoch> Group::rebuild(std::span<const Epoch> epochs) {
  std::vector<Epoch> whole;
  for (const Epoch epoch : epochs) {
    const bool own = rebuild_own(epoch);
    fault_point("rejoin.half_rebuilt");
    if (own && rebuild_held(epoch)) {
      whole.push_back(epoch);
    } else {
      own_log_.clear(epoch);
      held_log_.clear(epoch);
    }
  }
  return whole;
}

bool Group::rebuild_own(Epoch epoch) {
  const auto place = own_log_.place(epoch).first(record_bytes(members_.size()));
  control_exposure_->get(holder(), held_log_.offset(epoch), place);
  const auto record = own_log_.read(epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    const Member* member = find(version.member_id);
    if (member == nullptr || version.slot >= slots() || version.bytes() != member->bytes_of(team_rank_)) return false;
    const auto slot = member->own_slot(version);
    member->exposure->get(holder(), member->holder_layout.held_offset(version.slot), slot);
    if (hash_bytes(slot) != version.hash) return false;
  }
  return true;
}

bool Group::rebuild_held(Epoch epoch) {
  const int owner = held();
  const auto place = held_log_.place(epoch).first(record_bytes(members_.size()));
  control_exposure_->get(owner, own_log_.offset(epoch), place);
  const auto record = held_log_.read(epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    const Member* member = find(version.member_id);
    if (member == nullptr || version.slot >= slots() || version.bytes() != member->bytes_of(owner)) return false;
    const SlotLayout layout(slots(), member->bytes_of(owner), member->bytes_of(pairing_.held_by(owner)));
    const auto slot = member->held_slot(version);
    member->exposure->get(owner, layout.own_offset(version.slot), slot);
    if (hash_bytes(slot) != version.hash) return false;
  }
  return true;
}

void Group::resume(Generation generation, std::span<const Epoch> epochs) {
  generation_ = generation;
  keep_only(epochs);
  records_.clear();
  for (const Epoch epoch : epochs) {
    if (auto record = own_log_.read(epoch)) records_.push_back(std::move(*record));
  }
  base_ = epochs.empty() ? Epoch{} : epochs.back();
  board_.reset(generation, base_);
}

}  // namespace fenix_impl
