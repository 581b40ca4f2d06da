// SPDX-License-Identifier: BSD-3-Clause
// A rank that takes the place of a dead one on the same node takes over its memory: nothing has to be fetched or rebuilt.
#include <algorithm>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/group.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {

// What was kept before stays if the group has not been whole since: then it is what counts.
void Group::keep_estate() {
  if (!std::exchange(resumed_, false) || !control_.exposure) return;
  estate_ = {};
  try {
    const auto keep = [&](Exposure& exposure, std::int64_t what, std::uint32_t places, const SlotLayout& layout) {
      KeptRegion region = exposure.release_kept();
      if (region.owner() < 0) return;
      const Legacy legacy{region.owner(), places, what, region.address(), layout};
      estate_.parts.push_back({legacy, std::move(region)});
    };
    keep(*control_.exposure, Legacy::kControl, control_.own_log.places(), {});
    if (estate_.parts.empty()) return;
    for (const auto& member : members_) {
      if (member->exposure) keep(*member->exposure, member->info.id, 0, member->kept_layout);
    }
  } catch (const std::bad_alloc&) {
    estate_ = {};
  }
}

std::vector<Legacy> Group::legacies() const {
  std::vector<Legacy> offered;
  if (estate_.parts.empty()) return offered;
  // One that only seems to be dead might still write to it.
  if (!is_gone(estate_.parts.front().region.owner_process())) return offered;
  for (const Estate::Part& part : estate_.parts) offered.push_back(part.legacy);
  return offered;
}

bool Group::inherit(std::span<const Legacy> legacies) {
  const auto find_legacy = [&](std::int64_t what) {
    return std::find_if(legacies.begin(), legacies.end(), [&](const Legacy& each) { return each.what == what; });
  };
  try {
    const auto control_region = find_legacy(Legacy::kControl);
    if (control_region == legacies.end()) return false;
    Control control(Region::take_over(control_region->address), placement_, team_rank_, team_size_,
                    control_region->places);
    // That of a rank which had nothing itself, and was to be left out.
    if (epochs_in(control.own_log, parameters_.id, team_rank_).empty()) return false;
    std::vector<std::pair<Region, SlotLayout>> regions;
    for (const auto& member : members_) {
      const auto legacy = find_legacy(member->info.id);
      if (legacy == legacies.end()) return false;
      const SlotLayout layout(legacy->layout.slots(), legacy->layout.own_bytes(), legacy->layout.held_bytes());
      Region region = Region::take_over(legacy->address);
      if (layout.end() > region.bytes().size()) return false;
      member->add_slots(layout.slots());
      regions.emplace_back(std::move(region), layout);
    }
    fault_point("estate.inherited");
    control_ = std::move(control);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      members_[i]->region = std::move(regions[i].first);
      members_[i]->layout = regions[i].second;
    }
  } catch (const Error& error) {
    log().info("group {}: the memory of the rank before cannot be had: {}", parameters_.id, error.what());
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void Group::forget_estate() { estate_ = {}; }

}  // namespace fenix_impl
