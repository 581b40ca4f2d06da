// SPDX-License-Identifier: BSD-3-Clause
// What stores and commits have to agree on before they can begin: attributes of members, and memory that has to grow.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// A member that grows is given more than it asks for, so that it need not grow again at once.
std::uint64_t with_headroom(std::uint64_t before, std::uint64_t needed) {
  return needed <= before ? before : std::max(needed, before + before / 4);
}

}  // namespace

bool Group::has_to_settle(std::span<Member* const> members) const {
  return keeps_all() || std::any_of(members.begin(), members.end(),
                                    [](const Member* member) { return !member->settled || member->info.resizeable; });
}

void Group::settle(std::span<Member* const> members, const Selection& selection, const Check& check) {
  std::vector<std::uint64_t> same_on_all;
  for (const Member* member : members) {
    same_on_all.push_back(static_cast<std::uint64_t>(member->info.id));
    same_on_all.push_back(member->info.type->hash());
  }
  (void)meet(team(), Operation::settle, hash_bytes(std::as_bytes(std::span(same_on_all))), 0, [&] {
    if (check) check();
    for (const Member* member : members) check_storable(*member, selection);
    for (Member* member : members) {
      wait_for_requests_of(*member);
      // How much there is shows when it has been written.
      if (is_open_ended(*member, selection)) (void)stage_with_serializer(*member, selection);
    }
  });
  for (Member* member : members) {
    const std::uint64_t needed = member->info.resizeable
                                     ? std::max(elements_of(*member, selection).end(), member->working.staged.end())
                                     : member->own_count;
    settle_member(*member, needed);
  }
}

// needed: by this rank. What the slots of those who work with it need room for.
Counts Group::wanted_counts(const Member& member, std::uint64_t needed) {
  Counts needs = team().ask(partners(), needed);
  needs[team_rank_] = needed;
  Counts counts = member.counts;
  for (const auto& [rank, elements] : needs) {
    counts[rank] = member.info.resizeable ? with_headroom(counts[rank], elements) : elements;
  }
  return counts;
}

void Group::settle_member(Member& member, std::uint64_t needed) {
  struct Need {
    std::uint32_t most_slots = 0;
    std::uint32_t least_slots = 0;
    std::uint32_t grows = 0;  // some rank does
  };
  Counts counts = wanted_counts(member, needed);
  const std::uint32_t slots = member.layout.slots();
  const bool full = keeps_all() && !member.working.slot && !free_slot_for(member);
  const bool is_as_wanted = counts == member.counts && member.layout.has_room_for(wanted_layout(member, counts, slots));
  const std::uint32_t own_slots = full ? slots + slots / 2 + 1 : slots;
  const Need all =
      team().reduce(Need{own_slots, own_slots, is_as_wanted && !full ? 0U : 1U}, [](Need& into, const Need& from) {
        into.most_slots = std::max(into.most_slots, from.most_slots);
        into.least_slots = std::min(into.least_slots, from.least_slots);
        into.grows |= from.grows;
      });
  if (all.grows == 0 && all.most_slots == all.least_slots) {
    member.settled = true;
    return;
  }
  for (const auto& [rank, elements] : team().ask(witnesses(), counts.at(team_rank_))) counts[rank] = elements;
  const SlotLayout wanted = wanted_layout(member, counts, all.most_slots);
  const bool fits = member.layout.has_room_for(wanted);
  fault_point("grow.begin");
  // Others may grow though this rank need not: all expose their regions anew.
  Region grown;
  (void)meet(team(), Operation::memory, 0, 0, [&] {
    if (fits) return;
    grown = grown_region(member, wanted);
    member.add_slots(wanted.slots());
  });
  fault_point("grow.memory");
  adopt(member, expose_member(member, fits ? member.region : grown, fits ? member.layout : wanted));
  fault_point("grow.exposed");
  if (!fits) {
    retire(member.region);
    member.region = std::move(grown);
    member.layout = wanted;
  }
  prepare(member);
  member.counts = std::move(counts);
  member.settled = true;
}

void Group::grow_log_if_full() {
  const auto full =
      meet(team(), Operation::commit_room, 0, free_place(kPlacesToSpare) ? 0 : 1, [&] { check_committable(); });
  if (full.bits == 0) return;
  Control grown;
  (void)meet(team(), Operation::memory, 0, 0,
             [&] { grown = Control(placement_, team_rank_, team_size_, log_places() + log_places() / 2, control_); });
  fault_point("grow.log");
  grown.exposure = expose_control(grown.region);
  replace_control(std::move(grown));
}

}  // namespace fenix_impl
