// SPDX-License-Identifier: BSD-3-Clause
// Stores of all members, alone and with a commit.
#include "orders/plan.hpp"

namespace fenix_orders {

// Picks elements that each member has on each rank, or each member as a whole.
Picked Planner::picked_of_all(const Group& group, Random& random, bool prestaged) {
  if (prestaged) return Picked::named(Picked::Form::prestaged);
  int least = kMost;
  bool full = true;
  for (const Member& member : group.members) {
    if (member.is_resizeable()) {
      full = false;
      continue;
    }
    for (const OnRank& each : member.on) least = std::min(least, each.count);
  }
  return Picked::some(random, least, full);
}

// Does to the model what a store of all members does on a rank.
void Planner::store_each(Group& group, int rank, const Picked& picked, bool asynchronous) {
  for (Member& member : group.members) {
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    const Picked of_member = picked.form == Picked::Form::full ? Picked::named(Picked::Form::full, own.count) : picked;
    if (picked.form == Picked::Form::prestaged) {
      own.store_staged();
    } else if (!of_member.elements.empty() || own.has_serializer) {
      need_buffer(group, member, rank);
      Source& source = model_.source(rank, own.buffer);
      own.store(of_member.elements, source.values);
      const bool reads = !of_member.elements.empty() && !own.has_serializer;
      source.is_frozen = source.is_frozen || (group.in_place && !asynchronous && reads);
    }
    own.is_stored = true;
    own.use_up_memory();
  }
}

void Planner::store_all(Group& group, bool asynchronous) {
  if (!group.is_whole()) return;
  const bool prestaged = random_.one_in(4);
  const int request = asynchronous ? model_.next_number++ : kNone;
  const std::string call =
      std::string(asynchronous ? "member_istore" : "member_store") + (random_.one_in(2) ? "v" : "");
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    const Picked picked = picked_of_all(group, random, prestaged);
    store_each(group, rank, picked, asynchronous);
    add(
        rank,
        [&] {
          return "Fenix_Data_" + call + "(" + number(group.id) + ", ALL, " + picked.text() +
                 (asynchronous ? ", request " + number(request) : "") + ")";
        },
        [id = group.id, picked, asynchronous, request, call, v = call.back() == 'v'](Real& real) {
          constexpr int all = FENIX_DATA_MEMBER_ALL;
          const int code = picked.with([&](Fenix_Data_subset subset) {
            if (!asynchronous)
              return v ? Fenix_Data_member_storev(id, all, subset) : Fenix_Data_member_store(id, all, subset);
            Fenix_Request& made = real.requests[request];
            return v ? Fenix_Data_member_istorev(id, all, subset, &made)
                     : Fenix_Data_member_istore(id, all, subset, &made);
          });
          return expect_code(call.c_str(), code, FENIX_SUCCESS);
        });
  }
  std::vector<int> ids;
  for (Member& member : group.members) {
    model_.settle(group.id, member.id);
    member.settle(group.depth < 0);
    ids.push_back(member.id);
  }
  if (asynchronous) model_.asked.push_back({request, group.id, ids});
  group.is_touched = group.is_touched || !group.members.empty();
}

void Planner::checkpoint(Group& group) {
  if (!group.is_whole()) return;
  finish_requests(group.id, {});
  const bool staged = std::any_of(group.members.begin(), group.members.end(),
                                  [](const Member& member) { return member.some_staged(); });
  // Members whose subsets may differ: all, or the first ones of them.
  const int members = static_cast<int>(group.members.size());
  const int differing = random_.one_in(2) ? FENIX_STOREV_ALL : random_.below(members + 1);
  std::vector<int> ids;
  for (int at = 0; at < differing; ++at) ids.push_back(group.members[static_cast<std::size_t>(at)].id);
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(differing == FENIX_STOREV_ALL ? rank : 0);
    const Picked picked = picked_of_all(group, random, staged);
    store_each(group, rank, picked, false);
    const bool v = differing == FENIX_STOREV_ALL && random_.one_in(2);
    add(
        rank,
        [&] {
          return std::string("Fenix_Data_checkpoint") + (v ? "v(" : "(") + number(group.id) + ", " + picked.text() +
                 (v ? "" : ", " + number(differing) + ", ids") + ", &stamp): " + number(group.next_stamp);
        },
        [id = group.id, picked, v, differing, ids, expected = group.next_stamp](Real&) {
          int stamp = kNone;
          auto own_ids = ids;
          const int code = picked.with([&](Fenix_Data_subset subset) {
            return v ? Fenix_Data_checkpointv(id, subset, &stamp)
                     : Fenix_Data_checkpoint(id, subset, differing, own_ids.data(), &stamp);
          });
          if (code == FENIX_SUCCESS && stamp != expected)
            return "the time stamp is " + number(stamp) + " instead of " + number(expected);
          return expect_code("checkpoint", code, FENIX_SUCCESS);
        });
  }
  group.commit();
  for (Member& member : group.members) member.settle(group.depth < 0);
  model_.unfreeze(group);
}

}  // namespace fenix_orders
