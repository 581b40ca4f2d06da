// SPDX-License-Identifier: BSD-3-Clause
#include "core/archive.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// An archive of a rank that has nothing to show needs a region all the same: exposing is collective.
constexpr std::size_t kEmptyRegion = 4096;

}  // namespace

std::vector<CommittedEpoch> epochs_in(const RecordLog& log, std::int32_t group_id, int owner) {
  std::vector<CommittedEpoch> epochs;
  for (const auto& [record, place] : log.read_all()) {
    if (record.group_id != group_id || record.owner != owner) continue;
    epochs.push_back({record.epoch, record.oldest_kept, place, record.deleted ? 1U : 0U});
  }
  return epochs;
}

Archive::~Archive() {
  detach();
  if (!regions_may_be_touched_) return;
  control_.leak();
  for (auto& [id, kept] : members_) kept.region.leak();
}

void Archive::take_control(Region region, const RecordLog& own_log, const RecordLog& held_log) {
  control_ = std::move(region);
  own_log_ = own_log;
  held_log_ = held_log;
}

void Archive::take_member(const MemberInfo& info, Region region, const SlotLayout& layout) {
  members_[info.id] = {std::move(region), layout};
}

std::vector<CommittedEpoch> Archive::own_epochs(std::int32_t group_id) const {
  return empty() ? std::vector<CommittedEpoch>{} : epochs_in(own_log_, group_id, rank_);
}

std::vector<CommittedEpoch> Archive::held_epochs(std::int32_t group_id) const {
  return empty() || held_ == rank_ ? std::vector<CommittedEpoch>{} : epochs_in(held_log_, group_id, held_);
}

// The ids that any rank has, ascending.
void Archive::settle_ids(Team& team) {
  std::vector<std::int32_t> ids;
  for (const auto& [id, kept] : members_) ids.push_back(id);
  const auto numbers = team.gather(static_cast<std::uint64_t>(ids.size()));
  ids.resize(*std::max_element(numbers.begin(), numbers.end()), -1);
  member_ids_ = team.gather(std::span<const std::int32_t>(ids));
  std::sort(member_ids_.begin(), member_ids_.end());
  member_ids_.erase(std::unique(member_ids_.begin(), member_ids_.end()), member_ids_.end());
  std::erase(member_ids_, -1);
}

void Archive::attach(Team& team, Path& path) {
  detach();
  settle_ids(team);
  regions_may_be_touched_ = regions_may_be_touched_ || path.may_touch_regions_later();
  const auto expose = [&](Region& region) {
    std::unique_ptr<Exposure> exposure;
    (void)meet(team, Operation::memory, 0, 0, [&] {
      if (region.bytes().empty()) region = Region(kEmptyRegion);
    });
    (void)meet(team, Operation::group_attach, 0, 0, [&] { exposure = path.expose(team, region); });
    return exposure;
  };
  auto control = expose(control_);
  for (const std::int32_t id : member_ids_) exposures_[id] = expose(members_[id].region);
  control_exposure_ = std::move(control);
}

void Archive::detach() {
  control_exposure_.reset();
  exposures_.clear();
}

Holdings Archive::holdings(std::int32_t member_id, Epoch epoch) const {
  const auto kept = members_.find(member_id);
  if (empty() || kept == members_.end()) return {};
  return fenix_impl::holdings(own_log_, rank_, held_log_, held_, kept->second.layout, member_id, epoch);
}

namespace {

/// Where the version of a member is that a log has; offsets_of gives those of a slot and its table.
template <class OffsetsOf>
Holding holding_in(const RecordLog& log, int owner, std::int32_t member_id, Epoch epoch, OffsetsOf&& offsets_of) {
  for (const auto& [record, place] : log.read_all()) {
    if (record.epoch != epoch || record.owner != owner || record.deleted) continue;
    const MemberVersion* version = record.find(member_id);
    if (version == nullptr) return {owner, 0, Holding::kNothing, 0, 0};
    const auto [data, table] = offsets_of(version->slot);
    return {owner, 0, log.offset(place), data, table};
  }
  return {owner, 0, Holding::kNothing, 0, 0};
}

}  // namespace

Holdings holdings(const RecordLog& own_log, int rank, const RecordLog& held_log, int held, const SlotLayout& layout,
                  std::int32_t member_id, Epoch epoch) {
  Holdings result;
  result.own = holding_in(own_log, rank, member_id, epoch, [&](std::uint32_t slot) {
    return std::pair{layout.own_offset(slot), layout.own_offset(slot) + layout.own_table()};
  });
  if (held == rank) return result;
  result.held = holding_in(held_log, held, member_id, epoch, [&](std::uint32_t slot) {
    return std::pair{layout.held_offset(slot), layout.held_offset(slot) + layout.held_table()};
  });
  return result;
}

}  // namespace fenix_impl
