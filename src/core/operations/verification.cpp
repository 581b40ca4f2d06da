// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/verification.hpp"

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {
namespace {

Verified sum_of(const std::vector<Verified>& ranks) {
  Verified sum;
  for (const Verified& each : ranks) {
    sum.checked += each.checked;
    sum.mended += each.mended;
    sum.lost += each.lost;
  }
  return sum;
}

std::optional<Record> record_there(RemoteRegions& control, int rank, std::size_t offset) {
  const auto bytes = fetch_record(control, rank, offset);
  return bytes ? decode(*bytes) : std::nullopt;
}

}  // namespace

Verified Verification::run_for_all(const std::function<void()>& check) {
  return together(context_.team(), [&] {
    (void)meet(
        context_.team(), Operation::repair, ~std::uint64_t{0}, 0, check ? check : [] {});
    std::vector<Member*> members;
    for (const auto& member : context_.members) members.push_back(member.get());
    return verify(members);
  });
}

Verified Verification::run_for(std::int32_t member_id) {
  Member* member = context_.members.find(member_id);
  return together(context_.team(), [&] { return verify(std::span(&member, 1)); });
}

Verified Verification::verify(std::span<Member* const> members) {
  Verified counts;
  for (Member* member : members) (void)context_.requests.access(*member);
  // Others need the records to know what belongs together.
  const std::uint64_t records = context_.log.records().size();
  counts.mended = context_.log.mend_own();
  // A snapshot that some rank does not have is none, and its slots may be written to at any time.
  const auto epochs = consistent_now(context_).epochs;
  // Own data first, on all ranks: redundancy is made from it. One rank may mend what another one lacks, so they go on as long as
  // some rank gets anywhere.
  Verified all;
  std::uint64_t mended_before = 0;
  do {
    mended_before = all.mended;
    counts.checked = records;
    counts.lost = 0;
    verify_own(members, epochs, counts);
    fault_point("verify.own");
    all = sum_of(context_.team().gather(counts));
  } while (all.lost > 0 && all.mended > mended_before);
  verify_held_records(counts);
  // Redundancy of data that is damaged is all that is left of it.
  if (all.lost == 0) {
    for (Member* member : members) verify_held(*member, epochs, counts);
  }
  fault_point("verify.held");
  return sum_of(context_.team().gather(counts));
}

void Verification::verify_own(std::span<Member* const> members, std::span<const Epoch> epochs, Verified& counts) {
  for (Member* member : members) {
    for (const Epoch epoch : epochs) {
      const MemberVersion* version = version_at(context_.log, *member, epoch);
      if (version == nullptr) continue;
      ++counts.checked;
      if (own_is_sound(context_.parameters, *member, *version)) continue;
      log().warn("group {} member {}: the data of this rank is damaged, making it anew", context_.parameters.id,
                 member->id());
      ++(context_.protection().mend_own(*member, *version, epoch) ? counts.mended : counts.lost);
    }
  }
}

// Own records are right, on all ranks.
void Verification::verify_held_records(Verified& counts) {
  const GroupRanks& ranks = context_.attachment.ranks();
  const Control& control = context_.control();
  const auto mine = context_.log.memory().own_epochs();
  const auto theirs = context_.team().ask(ranks.partners(), std::span<const CommittedEpoch>(mine));
  for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
    const int owner = ranks.placement.kept(ranks.rank, copy);
    const RecordLog& log_of_owner = control.held_logs[static_cast<std::size_t>(copy)];
    for (const CommittedEpoch& each : owner == ranks.rank ? mine : theirs.at(owner)) {
      ++counts.checked;
      const auto record = record_there(*control.remote, owner, control.own_log.offset(each.entry));
      if (record && log_of_owner.read(each.entry) == record) continue;
      log().warn("group {}: a record of rank {} is damaged on this one, making it anew", context_.parameters.id, owner);
      if (record) log_of_owner.put(each.entry, *record);
      ++(record ? counts.mended : counts.lost);
    }
  }
}

void Verification::verify_held(Member& member, std::span<const Epoch> epochs, Verified& counts) {
  Protection& protection = context_.protection();
  const auto check = [&](const MemberVersion& version, Epoch epoch) {
    ++counts.checked;
    if (protection.held_is_sound(member, version, epoch)) return;
    log().warn("group {} member {}: redundancy on this rank is damaged, making it anew", context_.parameters.id,
               member.id());
    ++(protection.mend_held(member, version, epoch) ? counts.mended : counts.lost);
  };
  const Control& control = context_.control();
  const auto logs = protection.holds_copies() ? control.held_logs : std::vector<RecordLog>{control.own_log};
  for (const RecordLog& log : logs) {
    for (const auto& [record, entry] : log.read_all()) {
      const MemberVersion* version = version_in(record, member);
      if (version != nullptr && contains(epochs, record.epoch)) check(*version, record.epoch);
    }
  }
}

}  // namespace fenix_impl
