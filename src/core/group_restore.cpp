// SPDX-License-Identifier: BSD-3-Clause
// Restore: first all ranks make sure that they can, then each copies.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {

void Group::restore(std::int32_t member_id, std::optional<int> time_stamp, void* target, std::int64_t max_count,
                    const std::function<void()>& check_arguments) {
  fault_point("restore.begin");
  const Member* member = find(member_id);
  const std::array<std::int64_t, 3> same_on_all{member_id, time_stamp ? 1 : 0, time_stamp.value_or(0)};
  const auto last_epochs =
      meet(team(), Operation::restore, hash_bytes(std::as_bytes(std::span(same_on_all))), last().value, [&] {
        check_arguments();
        if (member == nullptr) {
          throw Error(FENIX_ERROR_INVALID_MEMBERID, "member_id " + std::to_string(member_id) + " is not in the group");
        }
      });
  fault_point("restore.met");

  std::span<const std::byte> source;
  (void)meet(team(), Operation::restore_ready, 0, 0, [&] {
    const Epoch newest{*std::min_element(last_epochs.begin(), last_epochs.end())};
    const MemberVersion& version = checked_version(*member, restorable(time_stamp, newest));
    if (target != nullptr && static_cast<std::uint64_t>(max_count) < version.count) {
      throw Error(FENIX_ERROR_BUFFER_TOO_SMALL, "max_count " + std::to_string(max_count) + " is less than the " +
                                                    std::to_string(version.count) + " elements stored");
    }
    source = member->own_slot(version);
  });
  fault_point("restore.ready");
  if (target != nullptr && !source.empty()) std::memcpy(target, source.data(), source.size());
  fault_point("restore.done");
}

// newest is the same on all ranks, so that all come to the same epoch.
Epoch Group::restorable(std::optional<int> time_stamp, Epoch newest) const {
  if (newest.none()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (!time_stamp) return newest;
  const auto depth = static_cast<std::uint64_t>(parameters_.depth);
  const std::uint64_t oldest = newest.value > depth ? newest.value - depth : 1;
  const auto epoch = static_cast<std::int64_t>(*time_stamp) - parameters_.start_time_stamp + 1;
  if (epoch < static_cast<std::int64_t>(oldest) || epoch > static_cast<std::int64_t>(newest.value)) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(*time_stamp));
  }
  return {static_cast<std::uint64_t>(epoch)};
}

const MemberVersion& Group::checked_version(const Member& member, Epoch epoch) {
  const Record* record = record_of(epoch);
  if (record == nullptr) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP,
                "the snapshot with the time_stamp " + std::to_string(time_stamp_of(epoch)) + " is gone");
  }
  const MemberVersion* version = record->find(member.info.id);
  if (version == nullptr) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "member_id " + std::to_string(member.info.id) + " was never stored");
  }
  const auto slot = member.own_slot(*version);
  if (hash_bytes(slot) == version->hash) return *version;
  log().warn("group {} member {}: own copy is damaged, taking the one of rank {}", parameters_.id, member.info.id,
             holder());
  if (is_protected()) {
    member.exposure->get(holder(), member.holder_layout.held_offset(version->slot), slot);
    if (hash_bytes(slot) == version->hash) return *version;
  }
  throw Error(FENIX_ERROR_NODATA_FOUND, "member_id " + std::to_string(member.info.id) + " is damaged in all copies");
}

}  // namespace fenix_impl
