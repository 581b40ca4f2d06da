// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/flush.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/simd/slot_hashes.hpp"
#include "core/member/member_codec.hpp"

namespace fenix_impl {

DatasetPlan Flush::plan(Epoch epoch, std::string label, std::uint32_t run, std::vector<std::uint32_t> writers) const {
  const GroupParameters& group = context_.parameters;
  DatasetPlan plan;
  plan.name = {group.id, group.time_stamp_of(epoch), run, context_.log.generation().value};
  plan.label = std::move(label);
  plan.epoch = epoch.value;
  const Policy& policy = group.policy;
  plan.group = {
      group.start_time_stamp, group.depth,     group.hashing, group.in_place, static_cast<std::int32_t>(policy.kind),
      policy.separation,      policy.set_size, policy.losses};
  for (const auto& member : context_.members) {
    const MemberInfo& info = member->info();
    plan.members.push_back({info.id, info.element_bytes(), encode_members({&info, 1})});
  }
  plan.writers = std::move(writers);
  return plan;
}

Flush::Offered Flush::offer(Epoch epoch) const {
  const LoggedRecord* logged = context_.log.at(epoch);
  if (logged == nullptr) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the snapshot with the time_stamp " +
                                              std::to_string(context_.parameters.time_stamp_of(epoch)) + " is gone");
  }
  Offered offered;
  offered.offer.rank = context_.attachment.ranks().rank;
  offered.offer.record.resize(record_bytes(logged->record));
  (void)encode(logged->record, offered.offer.record);
  const std::uint64_t seal = record_seal(epoch);
  std::memcpy(offered.offer.record.data(), &seal, sizeof seal);
  for (const MemberVersion& version : logged->record.members) {
    const Member* const member = context_.members.find(version.member_id);
    // It has been deleted since, perhaps with another one in its place.
    if (member == nullptr || version_in(logged->record, *member) != &version) continue;
    offered.offer.members.push_back(offer_of(version, *member));
    offered.regions.push_back(member->memory.region().file());
  }
  return offered;
}

MemberOffer Flush::offer_of(const MemberVersion& version, const Member& member) const {
  const SlotView slot = member.memory.own_slot(version.slot);
  MemberOffer offer{version.member_id, version.element_bytes, 0, version.found, {}};
  offer.offset = static_cast<std::uint64_t>(slot.data.data() - member.memory.region().bytes().data());
  const auto blocks = static_cast<std::size_t>(hash_blocks(version.bytes()));
  if (context_.parameters.hashing == 0) {
    // From here on, hashes say whether the slot is used anew.
    offer.hashes.resize(blocks);
    make_table(slot.data.first(version.bytes()), version.found, version.element_bytes, offer.hashes);
    return offer;
  }
  offer.hashes.assign(slot.table.begin(), slot.table.begin() + static_cast<std::ptrdiff_t>(blocks));
  if (hash_of_table(offer.hashes, version.bytes()) != version.hash) {
    throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member) + " is damaged in memory: verify the group, and flush again");
  }
  return offer;
}

}  // namespace fenix_impl
