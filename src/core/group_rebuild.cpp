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

std::optional<std::uint32_t> place_of(const CommittedEpochs& epochs, Epoch epoch) {
  if (!epochs) return std::nullopt;
  const auto found =
      std::find_if(epochs->begin(), epochs->end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
  return found == epochs->end() ? std::nullopt : std::optional(found->place);
}

std::optional<Record> record_at(Exposure& control, int rank, std::size_t offset, Epoch epoch) {
  const auto bytes = fetch_record(control, rank, offset);
  auto record = bytes ? decode(*bytes) : std::nullopt;
  return record && record->epoch == epoch && !record->deleted ? record : std::nullopt;
}

}  // namespace

std::vector<CommittedEpoch> Group::own_epochs() const {
  return epochs_in(control_.own_log, parameters_.id, team_rank_);
}

std::vector<CommittedEpoch> Group::held_epochs(int copy) const {
  if (static_cast<std::size_t>(copy) >= control_.held_logs.size()) return {};
  return epochs_in(control_.held_logs.at(static_cast<std::size_t>(copy)), parameters_.id,
                   placement_.kept(team_rank_, copy));
}

void Group::keep_only(std::span<const Epoch> epochs, Epoch oldest) {
  control_.own_log.clear_all_but(epochs, oldest);
  // Not to be taken for damaged ones.
  std::erase_if(records_, [&](const PlacedRecord& placed) {
    return placed.record.epoch >= oldest && !contains(epochs, placed.record.epoch);
  });
  fault_point("rejoin.half_voided");
  for (const RecordLog& log : control_.held_logs) log.clear_all_but(epochs, oldest);
}

std::vector<Epoch> Group::rebuild_own(std::span<const RecordCopy> copies, const std::set<int>& missing) {
  std::vector<Epoch> whole;
  for (const RecordCopy& each : copies) {
    if (each.place >= log_places()) continue;
    if (rebuild_own_epoch(each, missing)) whole.push_back(each.epoch);
    fault_point("rejoin.half_rebuilt");
  }
  return whole;
}

bool Group::rebuild_own_epoch(const RecordCopy& copy, const std::set<int>& missing) {
  const RecordLog& there = control_.held_logs.at(static_cast<std::size_t>(copy.copy));
  const int keeper = placement_.keeper(team_rank_, copy.copy);
  const auto record = record_at(*control_.exposure, keeper, there.offset(copy.place), copy.epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    Member* member = find(version.member_id);
    // Of a member that has been deleted since.
    if (member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.slot >= member->layout.slots() || version.element_bytes != member->element_bytes()) return false;
    if (version.bytes() > member->layout.own_bytes()) return false;
    if (!protection_->rebuild_own(*member, version, copy.epoch, missing)) return false;
  }
  control_.own_log.put(copy.place, *record);
  return true;
}

std::vector<Epoch> Group::rebuild_held(std::span<const Epoch> epochs, std::span<const CommittedEpochs> at_owners) {
  std::vector<Epoch> whole;
  for (const Epoch epoch : epochs) {
    bool all = true;
    for (int copy = 0; copy < placement_.copies() && all; ++copy) {
      const auto place = place_of(at_owners[static_cast<std::size_t>(copy)], epoch);
      all = place && *place < log_places() && rebuild_held_epoch(epoch, *place, copy);
    }
    if (all) whole.push_back(epoch);
  }
  return whole;
}

bool Group::rebuild_held_epoch(Epoch epoch, std::uint32_t place, int copy) {
  const RecordLog& log = control_.held_logs[static_cast<std::size_t>(copy)];
  const auto there = log.read(place);
  if (there && there->epoch == epoch && !there->deleted) return true;
  const int owner = placement_.kept(team_rank_, copy);
  const auto record = record_at(*control_.exposure, owner, control_.own_log.offset(place), epoch);
  if (!record) return false;
  for (const MemberVersion& version : record->members) {
    Member* member = find(version.member_id);
    if (!protection_->holds_copies() || member == nullptr || version_in(*record, *member) == nullptr) continue;
    if (version.element_bytes != member->element_bytes()) return false;
    if (!protection_->mend_held(*member, version, epoch)) return false;
  }
  log.put(place, *record);
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
  control_.commits.reset(generation, base);
  control_.announced.reset(generation, {});
  control_.finished.reset(generation, {});
  resumed_ = true;
  estate_ = {};
}

}  // namespace fenix_impl
