// SPDX-License-Identifier: BSD-3-Clause
// Rebuild: a rank that took a dead one's place fetches what that one had. Its peers do nothing.
#include <algorithm>
#include <utility>

#include "base/fault.hpp"
#include "core/group.hpp"

namespace fenix_impl {
namespace {

bool contains(std::span<const Epoch> epochs, Epoch epoch) {
  return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end();
}

std::optional<std::uint32_t> place_of(std::span<const CommittedEpoch> epochs, Epoch epoch) {
  const auto found =
      std::find_if(epochs.begin(), epochs.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
  return found == epochs.end() ? std::nullopt : std::optional(found->place);
}

}  // namespace

std::vector<CommittedEpoch> Group::own_epochs() const {
  return epochs_in(control_.own_log, parameters_.id, team_rank_);
}

std::vector<CommittedEpoch> Group::held_epochs() const {
  return is_protected() ? epochs_in(control_.held_log, parameters_.id, held()) : std::vector<CommittedEpoch>{};
}

void Group::keep_only(std::span<const Epoch> epochs) {
  control_.own_log.clear_all_but(epochs);
  fault_point("rejoin.half_voided");
  control_.held_log.clear_all_but(epochs);
}

std::vector<Epoch> Group::rebuild(std::span<const Epoch> epochs, std::span<const CommittedEpoch> at_holder,
                                  std::span<const CommittedEpoch> at_owner) {
  std::vector<Epoch> whole;
  for (const Epoch epoch : epochs) {
    const auto own = place_of(at_holder, epoch);
    const auto held = place_of(at_owner, epoch);
    const bool has_own = own && *own < log_places() && rebuild_own(*own);
    fault_point("rejoin.half_rebuilt");
    if (has_own && held && *held < log_places() && rebuild_held(*held)) {
      whole.push_back(epoch);
    } else {
      if (own && *own < log_places()) control_.own_log.clear(*own);
      if (held && *held < log_places()) control_.held_log.clear(*held);
    }
  }
  return whole;
}

bool Group::fetch_record(int from, std::size_t offset, std::span<std::byte> place) const {
  control_exposure_->get(from, offset, place.first(record_format::kHeadBytes));
  const auto length = length_in_head(place, place.size());
  if (!length) return false;
  control_exposure_->get(from, offset, place.first(*length));
  return true;
}

bool Group::rebuild_own(std::uint32_t place) {
  if (!fetch_record(holder(), control_.held_log.offset(place), control_.own_log.place(place))) return false;
  const auto record = control_.own_log.read(place);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    const Member* member = find(version.member_id);
    // Of a member that has been deleted since.
    if (member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.slot >= member->layout.slots() || version.slot >= member->holder_layout.slots()) return false;
    if (version.element_bytes != member->element_bytes() || version.bytes() > member->layout.own_bytes()) return false;
    if (version.bytes() > member->holder_layout.held_bytes() || !mend_own(*member, version)) return false;
  }
  return true;
}

bool Group::rebuild_held(std::uint32_t place) {
  const int owner = held();
  if (!fetch_record(owner, control_.own_log.offset(place), control_.held_log.place(place))) return false;
  const auto record = control_.held_log.read(place);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    const Member* member = find(version.member_id);
    if (member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.slot >= member->layout.slots() || version.slot >= member->owner_layout.slots()) return false;
    if (version.element_bytes != member->element_bytes() || version.bytes() > member->layout.held_bytes()) return false;
    if (version.bytes() > member->owner_layout.own_bytes() || !mend_held(*member, version)) return false;
  }
  return true;
}

void Group::resume(Generation generation, Epoch base, std::span<const Epoch> epochs) {
  generation_ = generation;
  keep_only(epochs);
  records_.clear();
  for (PlacedRecord& placed : control_.own_log.read_all()) {
    if (contains(epochs, placed.record.epoch)) records_.push_back(std::move(placed));
  }
  last_ = base;
  // What is older than a member is about another one with its id, also after epochs begin to be counted anew.
  for (auto& member : members_) member->info.created_after = std::min(member->info.created_after, base);
  control_.board.reset(generation, base);
}

}  // namespace fenix_impl
