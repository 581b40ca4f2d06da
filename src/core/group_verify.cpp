// SPDX-License-Identifier: BSD-3-Clause
// Looking for damage that no death has caused, and mending it.
#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {

namespace {

Group::Verified sum_of(const std::vector<Group::Verified>& ranks) {
  Group::Verified sum;
  for (const Group::Verified& each : ranks) {
    sum.checked += each.checked;
    sum.mended += each.mended;
    sum.lost += each.lost;
  }
  return sum;
}

}  // namespace

Group::Verified Group::verify_all(const Check& check) {
  return together(team(), [&] {
    (void)meet(
        team(), Operation::repair, ~std::uint64_t{0}, 0, check ? check : [] {});
    std::vector<Member*> members;
    for (const auto& member : members_) members.push_back(member.get());
    return verify_members(members);
  });
}

Group::Verified Group::verify_member(std::int32_t member_id, const Check& check) {
  Member* member = find(member_id);
  return together(team(), [&] {
    (void)meet(team(), Operation::repair, static_cast<std::uint64_t>(member_id), 0, [&] {
      if (check) check();
      if (member == nullptr) {
        throw Error(FENIX_ERROR_INVALID_MEMBERID, "member_id " + std::to_string(member_id) + " is not in the group");
      }
    });
    return verify_members(std::span(&member, 1));
  });
}

Group::Verified Group::verify_members(std::span<Member* const> members) {
  Verified counts;
  for (const Member* member : members) wait_for_requests_of(*member);
  // Others need them to know what belongs together.
  const std::uint64_t records = records_.size();
  counts.mended = mend_own_records();
  // What some rank does not have is no snapshot, and its slots may be written to at any time.
  const auto epochs = consistent_now().epochs;
  const auto for_each_version = [&](Member& member, auto&& work) {
    for (const Epoch epoch : epochs) {
      const PlacedRecord* placed = record_of(epoch);
      const MemberVersion* version = placed != nullptr ? version_in(placed->record, member) : nullptr;
      if (version != nullptr) work(*version, epoch);
    }
  };
  // Own data first, on all ranks: redundancy is made from it. What one rank has mended may be what another one lacks, so
  // they go on as long as some rank gets anywhere.
  Verified all;
  std::uint64_t mended_before = 0;
  do {
    mended_before = all.mended;
    counts.checked = records;
    counts.lost = 0;
    for (Member* member : members) {
      for_each_version(*member, [&](const MemberVersion& version, Epoch epoch) {
        ++counts.checked;
        if (own_is_sound(parameters_, *member, version)) return;
        log().warn("group {} member {}: the data of this rank is damaged, making it anew", parameters_.id,
                   member->info.id);
        ++(protection_->mend_own(*member, version, epoch) ? counts.mended : counts.lost);
      });
    }
    fault_point("verify.own");
    all = sum_of(team().gather(counts));
  } while (all.lost > 0 && all.mended > mended_before);
  verify_held_records(counts);
  // Redundancy of data that is damaged is all that is left of it.
  if (all.lost == 0) {
    for (Member* member : members) verify_held(*member, epochs, counts);
  }
  fault_point("verify.held");
  return sum_of(team().gather(counts));
}

void Group::verify_held(Member& member, std::span<const Epoch> epochs, Verified& counts) {
  const auto check = [&](const MemberVersion& version, Epoch epoch) {
    ++counts.checked;
    if (protection_->held_is_sound(member, version, epoch)) return;
    log().warn("group {} member {}: redundancy on this rank is damaged, making it anew", parameters_.id,
               member.info.id);
    ++(protection_->mend_held(member, version, epoch) ? counts.mended : counts.lost);
  };
  const auto logs = protection_->holds_copies() ? control_.held_logs : std::vector<RecordLog>{control_.own_log};
  for (const RecordLog& log : logs) {
    for (const auto& [record, place] : log.read_all()) {
      const MemberVersion* version = version_in(record, member);
      const bool kept = std::find(epochs.begin(), epochs.end(), record.epoch) != epochs.end();
      if (version != nullptr && kept) check(*version, record.epoch);
    }
  }
}

}  // namespace fenix_impl
