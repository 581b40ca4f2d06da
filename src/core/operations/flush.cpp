// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/flush.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "core/member/member_codec.hpp"
#include "core/parts/snapshot_source.hpp"

namespace fenix_impl {

DatasetPlan Flush::plan(Epoch epoch, std::uint32_t run, std::vector<std::uint32_t> writers) const {
  const GroupParameters& group = context_.parameters;
  DatasetPlan plan;
  plan.name = {group.id, group.time_stamp_of(epoch), run};
  plan.epoch = epoch.value;
  const Policy& policy = group.policy;
  plan.group = {
      group.start_time_stamp, group.depth,        group.hashing, group.in_place, static_cast<std::int32_t>(policy.kind),
      policy.separation,      policy.cohort_size, policy.losses};
  for (const auto& member : context_.members) {
    const MemberInfo& info = member->info();
    plan.members.push_back({info.id, info.element_bytes(), encode_members({&info, 1})});
  }
  plan.writers = std::move(writers);
  return plan;
}

RankSource Flush::source(Epoch epoch) const {
  const LoggedRecord* logged = context_.log.at(epoch);
  if (logged == nullptr) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the snapshot with the time_stamp " +
                                              std::to_string(context_.parameters.time_stamp_of(epoch)) + " is gone");
  }
  RankSource source;
  source.rank = context_.attachment.ranks().rank;
  source.record.resize(record_bytes(logged->record));
  (void)encode(logged->record, source.record);
  for (const MemberVersion& version : logged->record.members) {
    const Member* const member = context_.members.find(version.member_id);
    // It has been deleted since, perhaps with another one in its place.
    if (member == nullptr || version_in(logged->record, *member) != &version) continue;
    const SlotView slot = member->memory.own_slot(version.slot);
    source.members.push_back(
        source_of(version, slot.data.first(version.bytes()), slot.table, context_.parameters.hashing != 0));
  }
  return source;
}

}  // namespace fenix_impl
