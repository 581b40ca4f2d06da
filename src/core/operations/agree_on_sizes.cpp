// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/agree_on_sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {
namespace {

// A member that grows is given more than it asks for, so that it need not grow again at once.
std::uint64_t with_headroom(std::uint64_t before, std::uint64_t needed) {
  return needed <= before ? before : std::max(needed, before + before / 4);
}

/// The needs of the ranks for slots, merged.
struct SlotNeeds {
  std::uint32_t most_slots = 0;
  std::uint32_t least_slots = 0;
  std::uint32_t some_grow = 0;

  void merge(const SlotNeeds& from) {
    most_slots = std::max(most_slots, from.most_slots);
    least_slots = std::min(least_slots, from.least_slots);
    some_grow |= from.some_grow;
  }
};

}  // namespace

bool AgreeOnSizes::is_needed(std::span<Member* const> members) const {
  return context_.parameters.keeps_all() || std::any_of(members.begin(), members.end(), [](const Member* member) {
           return !member->sizes_agreed() || member->info().resizeable;
         });
}

void AgreeOnSizes::run(std::span<Member* const> members, const Selection& selection,
                       const std::function<void()>& check) {
  std::vector<std::uint64_t> same_on_all;
  for (const Member* member : members) {
    same_on_all.push_back(static_cast<std::uint64_t>(member->id()));
    same_on_all.push_back(member->info().type->hash());
  }
  const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(same_on_all)));
  // A count may have been set since the creation, on each rank by itself.
  if (std::any_of(members.begin(), members.end(), [](const Member* member) { return !member->sizes_agreed(); })) {
    (void)meet(context_.team(), Operation::agree_on_sizes, hash, 0, [] {});
    agree_on_kinds(members);
  }
  (void)meet(context_.team(), Operation::agree_on_sizes, hash, 0, [&] {
    if (check) check();
    for (Member* member : members) drop_beyond(*member);
    for (const Member* member : members) staging_.check_storable(*member, selection);
    for (Member* member : members) {
      const MemberAccess access = context_.requests.access(*member);
      if (is_open_ended(*member, selection)) (void)staging_.stage_with_serializer(access, selection);
    }
  });
  for (Member* member : members) {
    const std::uint64_t needed = member->info().resizeable
                                     ? std::max(elements_of(*member, selection).end(), member->working().staged().end())
                                     : member->own_count();
    agree_on(*member, needed);
    member->set_sizes_agreed(true);
  }
}

void AgreeOnSizes::take_in_definition(Member& member) {
  constexpr std::uint64_t kOpen = 1;
  constexpr std::uint64_t kInUse = 2;
  const WorkingSlot& slot = context_.requests.access(member).slot();
  const std::uint64_t own = (member.sizes_agreed() ? 0 : kOpen) | (slot.is_untouched() && !slot.is_lent() ? 0 : kInUse);
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(member.id()), member.info().type->hash()};
  const auto said =
      meet(context_.team(), Operation::agree_on_sizes, hash_bytes(std::as_bytes(std::span(same_on_all))), own, [] {});
  if ((said.bits & kOpen) == 0) return;
  agree_on_kinds(std::array{&member});
  if ((said.bits & kInUse) != 0) return;
  try {
    agree_on(member, member.own_count());
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // All ranks get it, and what the program has defined stands: the next store tries again.
    if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
    log().info("{}: {}", name_of(member), error.what());
  }
}

// A member is resizeable if it is on all ranks; elsewhere, a count of 0 says that the rank has no elements.
void AgreeOnSizes::agree_on_kinds(std::span<Member* const> members) {
  std::vector<std::uint8_t> fixed;
  for (const Member* member : members) fixed.push_back(member->may_be_resizeable() ? 0 : 1);
  const auto on_some = context_.team().reduce_lists(
      std::span<const std::uint8_t>(fixed), [](std::vector<std::uint8_t>& into, std::span<const std::uint8_t> from) {
        for (std::size_t i = 0; i < std::min(into.size(), from.size()); ++i) into[i] |= from[i];
      });
  for (std::size_t i = 0; i < members.size() && i < on_some.size(); ++i) members[i]->set_resizeable(on_some[i] == 0);
}

// Elements may have been staged before it was known that the member has none on this rank.
void AgreeOnSizes::drop_beyond(Member& member) {
  if (member.sizes_agreed() || member.info().resizeable) return;
  const std::uint64_t end = member.working().staged().end();
  if (end <= member.own_count()) return;
  context_.requests.access(member).slot().reset();
  throw Error(FENIX_ERROR_SUBSET_END_OFFSET, name_of(member) + " was staged up to element " + std::to_string(end - 1) +
                                                 ", but has " + std::to_string(member.own_count()) +
                                                 ": its count is not 0 on all ranks. What was staged is dropped");
}

// Returns the elements that slots need room for, of this rank and of its partners. needed: by this rank.
Counts AgreeOnSizes::wanted_counts(const Member& member, std::uint64_t needed) {
  const GroupRanks& ranks = context_.attachment.ranks();
  Counts needs = context_.team().ask(ranks.partners(), needed);
  needs[ranks.rank] = needed;
  Counts counts = member.memory.counts();
  for (const auto& [rank, elements] : needs) {
    counts[rank] = member.info().resizeable ? with_headroom(counts[rank], elements) : elements;
  }
  return counts;
}

void AgreeOnSizes::agree_on(Member& member, std::uint64_t needed) {
  const MemberMemory& memory = member.memory;
  Counts counts = wanted_counts(member, needed);
  const std::uint32_t slots = memory.layout().slots();
  const bool full =
      context_.parameters.keeps_all() && !member.working().number() && !context_.reclaimer.free_slot_for(member);
  const bool is_as_wanted =
      counts == memory.counts() && memory.layout().has_room_for(wanted_layout(context_, member, counts, slots));
  const std::uint32_t own_slots = full ? slots + slots / 2 + 1 : slots;
  const SlotNeeds all = context_.team().reduce(SlotNeeds{own_slots, own_slots, is_as_wanted && !full ? 0U : 1U},
                                               [](SlotNeeds& into, const SlotNeeds& from) { into.merge(from); });
  if (all.some_grow != 0 || all.most_slots != all.least_slots) grow(member, std::move(counts), all.most_slots);
}

void AgreeOnSizes::grow(Member& member, Counts counts, std::uint32_t slots) {
  const GroupRanks& ranks = context_.attachment.ranks();
  MemberMemory& memory = member.memory;
  for (const auto& [rank, elements] : context_.team().ask(ranks.witnesses(), counts.at(ranks.rank))) {
    counts[rank] = elements;
  }
  const SlotLayout wanted = wanted_layout(context_, member, counts, slots);
  const bool fits = memory.layout().has_room_for(wanted);
  fault_point("grow.begin");
  // Others may grow though this rank need not: all expose their regions anew.
  Region grown;
  (void)meet(context_.team(), Operation::memory, 0, 0, [&] {
    if (fits) return;
    grown = memory.grown(wanted);
    member.add_slots(wanted.slots());
  });
  fault_point("grow.memory");
  auto exposed = expose_member(context_, member, fits ? memory.region() : grown, fits ? memory.layout() : wanted);
  // Nothing of the member may lead to new memory before all ranks have it: an error leaves it with the old.
  expose_buffer(context_, member);
  memory.adopt(std::move(exposed));
  fault_point("grow.exposed");
  if (!fits) memory.replace(std::move(grown), wanted);
  memory.counts() = std::move(counts);
  context_.attachment.path().give_back(context_.team());
  prepare_member(context_, member);
}

}  // namespace fenix_impl
