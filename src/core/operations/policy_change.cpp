// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/policy_change.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {

void PolicyChange::meet_to_change(std::uint64_t wanted, bool changes, const Check& check) {
  // A rank that has deleted a member has others than its peers.
  std::vector<std::uint64_t> same_on_all{wanted};
  for (const auto& member : context_.members) same_on_all.push_back(static_cast<std::uint64_t>(member->id()));
  (void)meet(context_.team(), Operation::policy, hash_bytes(std::as_bytes(std::span(same_on_all))), 0, [&] {
    check();
    // Requests for no member leave all untouched. The others may need this rank's part of them.
    context_.requests.wait_for_all();
    const bool frozen = !context_.log.last().none() ||
                        std::any_of(context_.members.begin(), context_.members.end(), [](const auto& member) {
                          const WorkingSlot& working = member->working();
                          return !working.is_untouched() || working.number() || working.is_lent();
                        });
    // A job that goes on from a store says again what the one before has said.
    if (frozen && changes)
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "data has been staged, stored or committed in the group");
  });
}

void PolicyChange::set_hashing(bool hashing, const Check& check) {
  together(context_.team(), [&] { meet_to_change(hashing ? 1 : 2, hashing != (parameters_.hashing != 0), check); });
  parameters_.hashing = hashing ? 1 : 0;
}

void PolicyChange::set_in_place(bool in_place, const Check& check) {
  GroupParameters wanted = parameters_;
  wanted.in_place = in_place ? 1 : 0;
  const bool changes = !(wanted == parameters_);
  together(context_.team(), [&] {
    meet_to_change(in_place ? 3 : 4, changes, check);
    if (changes) change_to(wanted);
  });
}

void PolicyChange::set_policy(const Policy& policy, const Check& check) {
  const std::int32_t values[] = {static_cast<std::int32_t>(policy.kind), policy.separation, policy.set_size,
                                 policy.losses};
  GroupParameters wanted = parameters_;
  wanted.policy = policy;
  const bool changes = !(wanted == parameters_);
  together(context_.team(), [&] {
    meet_to_change(hash_bytes(std::as_bytes(std::span(values))), changes, check);
    if (changes) change_to(wanted);
  });
}

void PolicyChange::change_to(const GroupParameters& wanted) {
  const GroupParameters parameters_before = std::exchange(parameters_, wanted);
  // The protection of before knows what it has announced so far.
  std::optional<Attachment::Arrangement> before;
  Prepared prepared;
  try {
    (void)meet(context_.team(), Operation::memory, 0, 0, [&] {
      before = context_.attachment.rearrange(context_.attachment.ranks().placement.order(), context_.control());
    });
    prepare(prepared);
  } catch (...) {
    parameters_ = parameters_before;
    if (before) context_.attachment.restore(std::move(*before));
    throw;
  }
  put_in_place(std::move(prepared));
  context_.attachment.path().give_back(context_.team());
}

void PolicyChange::prepare(Prepared& prepared) {
  const Members& members = context_.members;
  // Before any rank has the new policy for good: whoever dies, its new partners know what it had.
  learn_counts(context_, members.all());
  (void)meet(context_.team(), Operation::memory, 0, 0, [&] {
    const GroupRanks& ranks = context_.attachment.ranks();
    prepared.control = Control(ranks, context_.log.memory().entries(), context_.log.memory().entry_bytes(),
                               parameters_.commits_in_place(), context_.control());
    // The new protection counts announcements from the start.
    prepared.control.announced.reset(context_.log.generation(), {});
    prepared.control.finished.reset(context_.log.generation(), {});
    for (const auto& member : members) {
      const MemberMemory& memory = member->memory;
      prepared.layouts.push_back(wanted_layout(context_, *member, memory.counts(), memory.layout().slots()));
      prepared.regions.push_back(memory.grown(prepared.layouts.back()));
    }
    prepared.exposed.reserve(members.size());
  });
  prepared.control.remote = expose_control(context_, prepared.control.region);
  for (std::size_t i = 0; i < members.size(); ++i) {
    prepared.exposed.push_back(expose_member(context_, members[i], prepared.regions[i], prepared.layouts[i]));
  }
  reach_buffers(context_);
}

// Takes no memory.
void PolicyChange::put_in_place(Prepared prepared) {
  replace_control(context_, std::move(prepared.control));
  for (std::size_t i = 0; i < context_.members.size(); ++i) {
    MemberMemory& memory = context_.members[i].memory;
    memory.adopt(std::move(prepared.exposed[i]));
    memory.replace(std::move(prepared.regions[i]), prepared.layouts[i]);
  }
}

}  // namespace fenix_impl
