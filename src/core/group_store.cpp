// SPDX-License-Identifier: BSD-3-Clause
// Store and commit: DESIGN.md, "the life of a snapshot", names the same steps.
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/group.hpp"
#include "core/waiting.hpp"

namespace fenix_impl {

void Group::check_storable(const Member& member) {
  if (member.own_count > 0 && member.buffer == nullptr) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "member_id " + std::to_string(member.info.id) + " has no source buffer");
  }
}

void Group::store(Member& member) {
  fault_point("store.begin");
  check_storable(member);
  MemberVersion version{
      member.info.id, slot_for(member), member.own_count, member.info.element_bytes, last().next(), 0};
  // From here until the end the slot is nobody's: an older store into it is not to be committed half overwritten.
  member.working.reset();
  const auto slot = member.own_slot(version);
  if (!slot.empty()) std::memcpy(slot.data(), member.buffer, slot.size());
  fault_point("store.staged");
  version.hash = hash_bytes(slot);
  if (is_protected()) {
    const std::size_t place = member.holder_layout.held_offset(version.slot);
    const std::size_t half = slot.size() / 2;
    member.exposure->put(holder(), place, slot.first(half));
    fault_point("store.half");
    member.exposure->put(holder(), place + half, slot.subspan(half));
    member.exposure->complete(holder());
  }
  member.working = version;
  fault_point("store.done");
}

std::uint32_t Group::slot_for(const Member& member) {
  if (member.working) return member.working->slot;
  std::optional<std::uint32_t> slot;
  wait_until(team(), "all ranks to commit an earlier snapshot, before a slot is reused", [&] {
    forget_old_records();
    std::vector<std::uint32_t> used;
    for (const Record& record : records_) {
      if (const MemberVersion* version = record.find(member.info.id)) used.push_back(version->slot);
    }
    slot = free_slot(slots(), used);
    return slot.has_value();
  });
  return *slot;
}

void Group::forget_old_records() {
  const Epoch oldest = oldest_needed(board_.reached_by_all());
  while (!records_.empty() && records_.front().epoch < oldest) records_.pop_front();
}

int Group::commit() {
  fault_point("commit.begin");
  const Epoch epoch = last().next();
  if (epoch.value > static_cast<std::uint64_t>(FENIX_TIME_STAMP_MAX - parameters_.start_time_stamp) + 1) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "the time stamps of the group are used up");
  }
  // The place of the record may hold one that is still needed if this rank is far ahead of the others.
  wait_until(team(), "all ranks to commit an earlier snapshot, before its record is reused",
             [&] { return epoch.value < oldest_needed(board_.reached_by_all()).value + log_places(); });

  Record record = next_record(epoch);
  const auto bytes = own_log_.write_unsealed(record);
  fault_point("commit.written");
  if (is_protected()) {
    control_exposure_->put(holder(), held_log_.offset(epoch), bytes);
    fault_point("commit.sent");
    // The holder's copy first: once the own one counts, the other must count as well if this rank dies.
    control_exposure_->put_word(holder(), held_log_.offset(epoch), record_seal(epoch));
    fault_point("commit.held");
  }
  own_log_.seal(epoch);
  fault_point("commit.sealed");

  const int time_stamp = record.time_stamp;
  records_.push_back(std::move(record));
  for (auto& member : members_) member->working.reset();
  board_.publish(*control_exposure_, team_rank_, epoch);
  fault_point("commit.published");
  forget_old_records();
  return time_stamp;
}

Record Group::next_record(Epoch epoch) const {
  Record record{epoch, generation_, time_stamp_of(epoch), parameters_.id, team_rank_, {}};
  for (const auto& member : members_) {
    if (member->working) {
      record.members.push_back(*member->working);
    } else if (const MemberVersion* before = records_.empty() ? nullptr : records_.back().find(member->info.id)) {
      record.members.push_back(*before);
    }
  }
  return record;
}

void Group::wait_for_commit_on_all() {
  const Epoch epoch = last();
  wait_until(team(), "all ranks to commit", [&] { return board_.reached_by_all() >= epoch; });
  fault_point("commit.on_all");
  forget_old_records();
}

}  // namespace fenix_impl
