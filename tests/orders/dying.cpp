// SPDX-License-Identifier: BSD-3-Clause
// Deaths while ranks store and commit: some ranks have done more commits than others then.
#include "orders/plan.hpp"

namespace fenix_orders {

// A few commits, which some ranks do and others do not.
void Planner::store_while_dying(Group& group) {
  finish_requests(group.id, {});
  for (Member& member : group.members) {
    for (const int rank : model_.all_ranks()) need_buffer(group, member, rank);
  }
  for (const auto& steps : phase_->steps) open_from_.push_back(steps.size());
  cut_group_ = group.id;
  outcomes_ = {group};
  const int commits = 1 + random_.below(3);
  std::vector<Call> calls;
  for (int commit = 0; commit < commits; ++commit) {
    for (const Member& member : group.members) {
      if (!member.is_allocated) calls.push_back({Op::fill, group.id, member.id, random_.next()});
      calls.push_back({random_.one_in(4) ? Op::stage : Op::store, group.id, member.id, random_.next()});
    }
    calls.push_back({Op::commit, group.id, 0, random_.next()});
  }
  Random random = random_;
  const Call* const kill = call_;
  for (const Call& call : calls) {
    call_ = &call;
    random_ = Random(call.seed);
    const int stamp = group.next_stamp;
    apply(call);
    if (group.next_stamp != stamp) outcomes_.push_back(group);
  }
  call_ = kill;
  random_ = random;
}

void Planner::cut_short(Phase& phase) {
  phase.open_from = std::move(open_from_);
  open_from_.clear();
  phase.cut_group = cut_group_;
  Random random(call_->seed, 99);
  for (std::size_t rank = 0; rank < phase.steps.size(); ++rank) {
    const auto open = static_cast<int>(phase.steps[rank].size() - phase.open_from[rank]);
    phase.dies_before.push_back(phase.open_from[rank] + static_cast<std::size_t>(random.below(open + 1)));
  }
}

void Planner::tell(int commits) {
  Group& group = model_.groups.at(cut_group_);
  const Group& outcome = outcomes_.at(static_cast<std::size_t>(commits));
  group.snapshots = outcome.snapshots;
  group.next_stamp = outcome.next_stamp;
  group.has_committed = outcome.has_committed;
}

}  // namespace fenix_orders
