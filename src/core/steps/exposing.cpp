// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/exposing.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/log/dissemination.hpp"

namespace fenix_impl {

void learn_counts(const OperationContext& context, std::span<const std::unique_ptr<Member>> members) {
  const GroupRanks& ranks = context.attachment.ranks();
  std::vector<std::uint64_t> mine;
  for (const auto& member : members) {
    mine.push_back(member->memory.counts().try_emplace(ranks.rank, member->own_count()).first->second);
  }
  for (const auto& [rank, theirs] : context.team().ask(ranks.witnesses(), std::span<const std::uint64_t>(mine))) {
    if (theirs.size() != mine.size()) throw Error(FENIX_ERROR_INTERN, "a rank has another number of members");
    for (std::size_t i = 0; i < theirs.size(); ++i) members[i]->memory.counts()[rank] = theirs[i];
  }
}

SlotLayout wanted_layout(const OperationContext& context, const Member& member, const Counts& counts,
                         std::uint32_t slots) {
  return {slots, counts.at(context.attachment.rank()) * member.element_bytes(),
          context.protection().held_bytes(member, counts), context.parameters.own_slots(slots)};
}

void take_member_memory(const OperationContext& context, Member& member) {
  context.members.take_buffer(member);
  MemberMemory& memory = member.memory;
  const std::uint32_t slots =
      std::max({memory.least_slots(), memory.layout().slots(), context.parameters.first_slots()});
  const SlotLayout wanted = wanted_layout(context, member, memory.counts(), slots);
  if (memory.has_room_for(wanted)) return;
  Region region = memory.grown(wanted);
  member.add_slots(wanted.slots());
  memory.replace(std::move(region), wanted);
}

namespace {

// Maps what stores and commits need: they could not report a lack of memory to all ranks.
void reach_all(RemoteRegions& remote, const std::vector<int>& ranks) {
  for (const int rank : ranks) remote.reach(rank);
}

bool reads_buffers(const OperationContext& context) {
  return context.parameters.commits_in_place() && context.protection().commits_collectively();
}

}  // namespace

std::unique_ptr<RemoteRegions> expose_control(const OperationContext& context, const Region& region) {
  std::unique_ptr<RemoteRegions> remote;
  const GroupRanks& ranks = context.attachment.ranks();
  (void)meet(context.team(), Operation::group_attach, 0, 0, [&] {
    remote = context.attachment.path().expose(context.team(), region);
    reach_all(*remote, ranks.partners());
    reach_all(*remote, Dissemination::told_by(ranks.rank, ranks.size));
  });
  return remote;
}

MemberMemory::Exposed expose_member(const OperationContext& context, const Member& member, const Region& region,
                                    const SlotLayout& layout) {
  const GroupRanks& ranks = context.attachment.ranks();
  std::set<int> interested(context.attachment.path().adopting_neighbours(context.team()));
  for (const int rank : ranks.partners()) interested.insert(rank);
  const std::vector<int> peers(interested.begin(), interested.end());
  auto layouts = context.team().ask(peers, layout);
  layouts[ranks.rank] = layout;
  MemberMemory::Exposed exposed;
  (void)meet(context.team(), Operation::member_attach, static_cast<std::uint64_t>(member.id()), 0, [&] {
    exposed.remote = context.attachment.path().expose(context.team(), region);
    reach_all(*exposed.remote, context.protection().neighbours());
    for (const int rank : context.protection().neighbours()) exposed.peer_layouts.emplace_back(rank, layouts.at(rank));
    const int kept = exposed.remote->keeps();
    if (kept >= 0) exposed.retained_layout = layouts.at(kept);
  });
  return exposed;
}

void expose_buffer(const OperationContext& context, Member& member) {
  if (!member.info().allocated) return;
  std::unique_ptr<RemoteRegions> remote;
  (void)meet(context.team(), Operation::member_attach, static_cast<std::uint64_t>(member.id()), 0, [&] {
    remote = context.attachment.path().expose(context.team(), member.allocated.region());
    if (reads_buffers(context)) reach_all(*remote, context.protection().neighbours());
  });
  member.allocated.adopt(std::move(remote));
}

void reach_buffers(const OperationContext& context) {
  if (!reads_buffers(context)) return;
  (void)meet(context.team(), Operation::member_attach, 0, 0, [&] {
    for (const auto& member : context.members) {
      if (member->allocated.is_exposed()) reach_all(member->allocated.remote(), context.protection().neighbours());
    }
  });
}

void prepare_member(const OperationContext& context, const Member& member) {
  member.memory.populate();
  try {
    context.protection().prepare(member);
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // The first access does what is missing, and reports it: the other ranks have gone on.
    log().info("{}: {}", name_of(member), error.what());
  }
}

void replace_control(const OperationContext& context, Control control) {
  (void)context.log.memory().replace_control(std::move(control));
}

}  // namespace fenix_impl
