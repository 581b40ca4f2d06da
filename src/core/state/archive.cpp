// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/archive.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/pages.hpp"
#include "core/common/meeting.hpp"
#include "parity/stripes.hpp"

namespace fenix_impl {
namespace {

// A rank whose archive is empty needs a region all the same: exposing is collective.
constexpr std::size_t kEmptyRegion = kPage;

}  // namespace

void Archive::take_control(Region&& region, const RecordLog& own_log, const std::vector<RecordLog>& held_logs) {
  own_log_ = own_log;
  held_logs_ = held_logs;
  control_ = std::move(region);
}

void Archive::take_member(const MemberInfo& info, Region&& region, const SlotLayout& layout, Counts&& counts) {
  Kept& kept = members_[info.id];
  kept.info = info;
  kept.layout = layout;
  kept.counts = std::move(counts);
  kept.region = std::move(region);
}

std::vector<CommittedEpoch> Archive::own_epochs(std::int32_t group_id) const {
  return empty() ? std::vector<CommittedEpoch>{} : epochs_in(own_log_, group_id, rank_);
}

std::vector<CommittedEpoch> Archive::held_epochs(std::int32_t group_id, int copy) const {
  const auto number = static_cast<std::size_t>(copy);
  if (empty() || number >= held_logs_.size()) return {};
  return epochs_in(held_logs_[number], group_id, placement_.kept(rank_, copy));
}

// Finds the ids that any rank has, in ascending order.
void Archive::agree_on_ids(Team& team) {
  std::vector<std::int32_t> ids;
  for (const auto& [id, kept] : members_) ids.push_back(id);
  member_ids_.clear();
  for (const auto& theirs : team.gather_lists(std::span<const std::int32_t>(ids))) {
    member_ids_.insert(member_ids_.end(), theirs.begin(), theirs.end());
  }
  std::sort(member_ids_.begin(), member_ids_.end());
  member_ids_.erase(std::unique(member_ids_.begin(), member_ids_.end()), member_ids_.end());
}

void Archive::attach(Team& team, Path& path) {
  detach();
  agree_on_ids(team);
  const auto expose = [&](Region& region) {
    std::unique_ptr<RemoteRegions> remote;
    (void)meet(team, Operation::memory, 0, 0, [&] {
      if (region.bytes().empty()) region = Region(kEmptyRegion);
    });
    (void)meet(team, Operation::group_attach, 0, 0, [&] { remote = path.expose(team, region); });
    return remote;
  };
  auto control = expose(control_);
  for (const std::int32_t id : member_ids_) remote_[id] = expose(members_[id].region);
  remote_control_ = std::move(control);
}

void Archive::detach() {
  remote_control_.reset();
  remote_.clear();
}

Holdings Archive::holdings(std::int32_t member_id, Epoch epoch) const {
  const auto kept = members_.find(member_id);
  if (empty() || kept == members_.end()) return {};
  const Kept& it = kept->second;
  return holdings_of({placement_, rank_, own_log_, held_logs_, it.layout, it.info, it.counts}, policy_, epoch);
}

namespace {

/// Finds the version of a member in a log: its record, and its slot.
std::pair<Holding, std::optional<std::uint32_t>> holding_in(const RecordLog& log, int owner, const MemberInfo& info,
                                                            Epoch epoch) {
  Holding holding;
  holding.stored_by = owner;
  for (const auto& [record, entry] : log.read_all()) {
    if (record.epoch != epoch || record.owner != owner || record.deleted) continue;
    const MemberVersion* version = record.find(info.id);
    if (version == nullptr || version->stored_in <= info.created_after) break;
    holding.record = log.offset(entry);
    return {holding, version->slot};
  }
  return {holding, std::nullopt};
}

}  // namespace

Holdings holdings_of(const Holder& holder, const Policy& policy, Epoch epoch) {
  const SlotLayout& layout = holder.layout;
  const auto bytes_of = [&](int rank) {
    const auto count = holder.counts.find(rank);
    return count != holder.counts.end() ? count->second * holder.info.element_bytes() : 0;
  };
  Holdings result;
  const auto [own, slot] = holding_in(holder.own_log, holder.rank, holder.info, epoch);
  result.own = own;
  result.own.data_bytes = bytes_of(holder.rank);
  if (slot && *slot < layout.slots()) {
    result.own.data = layout.own_offset(*slot);
    result.own.parity = layout.held_offset(*slot);
  }
  for (int copy = 0; copy < holder.placement.copies(); ++copy) {
    const auto number = static_cast<std::size_t>(copy);
    const int owner = holder.placement.kept(holder.rank, copy);
    const auto [held, held_slot] = holding_in(holder.held_logs.at(number), owner, holder.info, epoch);
    result.held[number] = held;
    result.held[number].data_bytes = bytes_of(owner);
    if (!policy.keeps_copies() || !held_slot || *held_slot >= layout.slots()) continue;
    result.held[number].data = layout.held_offset(*held_slot);
  }
  if (policy.encodes()) {
    std::uint64_t most = 0;
    const auto& redundancy_set = holder.placement.redundancy_set(holder.rank);
    for (const int rank : redundancy_set) most = std::max(most, bytes_of(rank));
    const int data = static_cast<int>(redundancy_set.size()) - holder.placement.copies();
    result.unit = Stripes::unit_for(most, data, holder.info.resizeable);
  }
  return result;
}

}  // namespace fenix_impl
