// SPDX-License-Identifier: BSD-3-Clause
// Records that memory has not kept: what the owner knows of its commits makes them anew, here and with those who keep copies.
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "core/group.hpp"

namespace fenix_impl {
namespace {

std::optional<Record> record_there(Exposure& control, int rank, std::size_t offset) {
  const auto bytes = fetch_record(control, rank, offset);
  return bytes ? decode(*bytes) : std::nullopt;
}

}  // namespace

std::uint64_t Group::mend_own_records() {
  std::uint64_t mended = 0;
  for (const auto& [record, place] : records_) {
    if (control_.own_log.read(place) == record) continue;
    log().warn("group {}: the record of time stamp {} is damaged, making it anew", parameters_.id, record.time_stamp);
    control_.own_log.put(place, record);
    ++mended;
  }
  return mended;
}

// Own records are right, on all ranks.
void Group::verify_held_records(Verified& counts) {
  const auto mine = own_epochs();
  const auto theirs = team().ask(partners(), std::span<const CommittedEpoch>(mine));
  for (int copy = 0; copy < placement_.copies(); ++copy) {
    const int owner = placement_.kept(team_rank_, copy);
    const RecordLog& log_of_owner = control_.held_logs[static_cast<std::size_t>(copy)];
    for (const CommittedEpoch& each : owner == team_rank_ ? mine : theirs.at(owner)) {
      ++counts.checked;
      const auto record = record_there(*control_.exposure, owner, control_.own_log.offset(each.place));
      if (record && log_of_owner.read(each.place) == record) continue;
      log().warn("group {}: a record of rank {} is damaged on this one, making it anew", parameters_.id, owner);
      if (record) log_of_owner.put(each.place, *record);
      ++(record ? counts.mended : counts.lost);
    }
  }
}

}  // namespace fenix_impl
