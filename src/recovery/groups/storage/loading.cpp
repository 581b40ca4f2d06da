// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/loading.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "core/member/member_codec.hpp"
#include "core/state/stored_archive.hpp"

namespace fenix_impl {

namespace {

std::uint64_t hash_of_name(const DatasetName& name) {
  const std::string text = name.text();
  return hash_bytes(std::as_bytes(std::span(text)));
}

}  // namespace

bool Loading::run(const DatasetPlan& plan) {
  fault_point("fetch.begin");
  try {
    if (static_cast<int>(plan.writers.size()) == group_.ranks().size) {
      load(plan);
    } else {
      archive(plan);
    }
    return true;
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // Damage on one rank is found in a meeting, which tells all. A store that does not answer is another matter: nobody knows what is there.
    if (error.code() != FENIX_ERROR_NODATA_FOUND && error.code() != FENIX_ERROR_MISMATCH) throw;
    log().log(warning_of_all(group_.ranks().rank), "group {}: the dataset {} cannot be used: {}",
              group_.parameters().id, plan.name.text(), error.what());
    return false;
  }
}

// The ranks share out what was stored, and read it: damage that is found at the first restore would come too late for an older dataset.
void Loading::archive(const DatasetPlan& plan) {
  Team& team = group_.attachment().team();
  (void)meet(team, Operation::fetch, hash_of_name(plan.name), 0, [&] {
    const auto stored = static_cast<int>(plan.writers.size());
    for (int rank = team.rank(); rank < stored; rank += team.size()) {
      if (keeper_->datasets().verify(plan.name, rank, [&team] { team.check(); })) continue;
      throw Error(FENIX_ERROR_NODATA_FOUND, "what rank " + std::to_string(rank) + " has stored is damaged");
    }
  });
  has_changed_ = true;
  group_.store_link().set_dataset(keeper_, plan);
  take_parameters(plan);
  resume({plan.epoch});
}

void Loading::load(const DatasetPlan& plan) {
  Team& team = group_.attachment().team();
  Record own;
  (void)meet(team, Operation::fetch, hash_of_name(plan.name), 0, [&] { own = read_own(plan); });
  fault_point("fetch.met");
  has_changed_ = true;
  take_parameters(plan);
  const std::vector<Member*> members = make_members(plan, own);
  resume({plan.epoch - 1});
  fault_point("fetch.resumed");
  try {
    (void)meet(team, Operation::fetched, 0, 0, [&] { stage(plan, own, members); });
  } catch (...) {
    for (Member* const member : members) group_.requests().access(*member).slot().reset();
    throw;
  }
  fault_point("fetch.staged");
  group_.stores().store(members, Selection::staged());
  for (Member* const member : members) {
    const MemberVersion* const version = own.find(member->id());
    if (version != nullptr) group_.requests().access(*member).slot().note_size(version->size);
  }
  int time_stamp = 0;
  group_.commit_on_all(time_stamp);
  fault_point("fetch.committed");
}

Record Loading::read_own(const DatasetPlan& plan) {
  const int rank = group_.ranks().rank;
  Team& team = group_.attachment().team();
  const auto stored = keeper_->datasets().rank(plan.name, rank, [&team] { team.check(); });
  const auto record = stored ? decode(stored->record) : std::nullopt;
  const bool is_own = record && record->epoch.value == plan.epoch && record->group_id == plan.name.group;
  if (!is_own) throw Error(FENIX_ERROR_NODATA_FOUND, "what rank " + std::to_string(rank) + " has stored is not there");
  for (const MemberVersion& version : record->members) {
    const Extent* const extent = stored->find(version.member_id);
    if (extent != nullptr && extent->bytes == version.bytes()) continue;
    if (extent != nullptr)
      throw Error(FENIX_ERROR_NODATA_FOUND, "what rank " + std::to_string(rank) + " has stored is not whole");
  }
  Record own = *record;
  // Members that had been deleted were not stored.
  std::erase_if(own.members, [&](const MemberVersion& version) { return stored->find(version.member_id) == nullptr; });
  return own;
}

// The arguments of group_create count, as far as the job may have others than the one before. Time stamps go on.
void Loading::take_parameters(const DatasetPlan& plan) {
  const GroupParameters& parameters = group_.parameters();
  const auto nothing = [] {};
  if (group_.members().empty() && group_.log().last().none()) {
    if (parameters.hashing != plan.group.hashing) group_.policy_change().set_hashing(plan.group.hashing != 0, nothing);
    const bool can_be_in_place = plan.group.in_place == 0 || parameters.depth == 0;
    if (parameters.in_place != plan.group.in_place && can_be_in_place) {
      group_.policy_change().set_in_place(plan.group.in_place != 0, nothing);
    }
  }
  group_.store_link().set_start_time_stamp(plan.group.start_time_stamp);
}

std::vector<Member*> Loading::make_members(const DatasetPlan& plan, const Record& own) {
  Team& team = group_.attachment().team();
  std::vector<std::uint8_t> mine;
  for (const StoredMember& member : plan.members) mine.push_back(own.find(member.id) != nullptr ? 1 : 0);
  const auto some_have = team.reduce_lists(std::span<const std::uint8_t>(mine),
                                           [](std::vector<std::uint8_t>& into, std::span<const std::uint8_t> from) {
                                             for (std::size_t i = 0; i < std::min(into.size(), from.size()); ++i)
                                               into[i] |= from[i];
                                           });
  std::vector<Member*> members;
  for (std::size_t i = 0; i < plan.members.size() && i < some_have.size(); ++i) {
    if (some_have[i] == 0) continue;
    const MemberVersion* const version = own.find(plan.members[i].id);
    MemberInfo info = decode_members(plan.members[i].type).at(0);
    // Epochs are counted on; the member is older than all that are left.
    info.created_after = {};
    const std::uint64_t count = version != nullptr && !info.resizeable ? version->size : 0;
    Member* made = group_.definition().define_member(info, nullptr, count, [] {});
    if (made != nullptr) made->disclaim();
    Member& member = *group_.find(info.id);
    member.note_rejoined();
    members.push_back(&member);
  }
  return members;
}

// Peers must not publish anything before all ranks have done this.
void Loading::resume(Epoch base) {
  Team& team = group_.attachment().team();
  team.barrier();
  group_.recovery().begin_anew(base);
  team.barrier();
}

void Loading::stage(const DatasetPlan& plan, const Record& own, std::span<Member* const> members) {
  Team& team = group_.attachment().team();
  for (Member* const member : members) {
    const MemberVersion* const version = own.find(member->id());
    if (version == nullptr) continue;
    const bool has_room = member->info().resizeable || version->found.end() <= member->own_count();
    if (version->element_bytes != member->element_bytes() || !has_room) {
      throw Error(FENIX_ERROR_MISMATCH, name_of(*member) + " has other elements than in the store");
    }
    const MemberAccess access = group_.requests().access(*member);
    const auto memory = group_.staging().staging_memory(access, version->bytes()).first(version->bytes());
    access.slot().note_staged(version->found, version->element_bytes);
    if (!read_stored(*keeper_, {plan.name, group_.ranks().rank, member->id()}, memory, member->memory.region(), team)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, name_of(*member) + " is damaged in the store");
    }
    fault_point("fetch.member");
  }
}

}  // namespace fenix_impl
