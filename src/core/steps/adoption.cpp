// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/adoption.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {

OrphanedMemory Adoption::keep() const {
  OrphanedMemory kept;
  const Control& control = context_.control();
  const auto keep = [&](RemoteRegions& remote, std::int64_t what, std::uint32_t entries, const SlotLayout& layout) {
    KeptRegion region = remote.release_kept();
    if (region.owner() < 0) return;
    const OrphanedRegion offer{region.owner(), entries, what, region.address(), layout};
    kept.parts.push_back({offer, std::move(region)});
  };
  try {
    keep(*control.remote, OrphanedRegion::kControl, control.own_log.entries(), {});
    if (kept.parts.empty()) return kept;
    for (const auto& member : context_.members) {
      const MemberMemory& memory = member->memory;
      if (memory.is_exposed()) keep(memory.remote(), member->id(), 0, memory.retained_layout());
      const MemberBuffer& buffer = member->allocated;
      if (buffer.is_exposed()) keep(buffer.remote(), OrphanedRegion::buffer_of(member->id()), 0, {});
    }
  } catch (const std::bad_alloc&) {
    return {};
  }
  return kept;
}

// The contents of a dead rank's buffer are of use to nobody, but its pages are there. Without them, others are taken.
void Adoption::adopt_buffer(Member& member, const OrphanedRegion& offer) {
  try {
    const auto bytes = member.info().type->buffer_bytes(member.own_count());
    if (bytes) (void)member.allocated.take_over(Region::take_over(offer.address), *bytes);
  } catch (const Error& error) {
    log().info("{}: the buffer of the rank before cannot be had: {}", name_of(member), error.what());
  } catch (const std::bad_alloc&) {
    log().info("{}: the buffer of the rank before cannot be had: no memory", name_of(member));
  }
}

// Regions that were described at different times may be together here.
void Adoption::clear_unfitting(const RecordLog& log, std::span<const std::pair<Region, SlotLayout>> of_members) const {
  for (const LoggedRecord& logged : log.read_all()) {
    bool fits = true;
    for (std::size_t i = 0; i < of_members.size(); ++i) {
      const MemberVersion* const version = version_in(logged.record, context_.members[i]);
      const SlotLayout& layout = of_members[i].second;
      if (version != nullptr) fits = fits && version->slot < layout.slots() && version->bytes() <= layout.own_bytes();
    }
    if (!fits) log.clear(logged.entry);
  }
}

bool Adoption::adopt(std::span<const OrphanedRegion> regions) {
  const GroupRanks& ranks = context_.attachment.ranks();
  const auto find = [&](std::int64_t what) {
    return std::find_if(regions.begin(), regions.end(), [&](const OrphanedRegion& each) { return each.what == what; });
  };
  try {
    const auto control_region = find(OrphanedRegion::kControl);
    if (control_region == regions.end()) return false;
    Control control(Region::take_over(control_region->address), ranks, control_region->entries,
                    context_.parameters.commits_in_place());
    // The region of a rank that had nothing itself, and was to be left out.
    if (epochs_in(control.own_log, context_.parameters.id, ranks.rank).empty()) return false;
    std::vector<std::pair<Region, SlotLayout>> of_members;
    for (const auto& member : context_.members) {
      const auto offer = find(member->id());
      if (offer == regions.end()) return false;
      const SlotLayout layout(offer->layout.slots(), offer->layout.own_bytes(), offer->layout.held_bytes(),
                              context_.parameters.own_slots(offer->layout.slots()));
      Region region = Region::take_over(offer->address);
      if (layout.end() > region.bytes().size()) return false;
      member->add_slots(layout.slots());
      of_members.emplace_back(std::move(region), layout);
    }
    clear_unfitting(control.own_log, of_members);
    fault_point("memory.adopted");
    (void)context_.log.memory().replace_control(std::move(control));
    for (std::size_t i = 0; i < of_members.size(); ++i) {
      Member& member = context_.members[i];
      member.memory.replace(std::move(of_members[i].first), of_members[i].second);
      const auto buffer = find(OrphanedRegion::buffer_of(member.id()));
      if (member.info().allocated && buffer != regions.end()) adopt_buffer(member, *buffer);
    }
  } catch (const Error& error) {
    log().info("group {}: the memory of the rank before cannot be had: {}", context_.parameters.id, error.what());
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace fenix_impl
