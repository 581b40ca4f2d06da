// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/draining.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/member/selection.hpp"

namespace fenix_impl {
namespace {

std::vector<GroupParameters> groups_of(MPI_Comm comm, TeamFactory& teams, Storage& storage) {
  const auto team = teams.make(comm).team;
  return together(*team, [&] { return storage.kept_groups(*team); });
}

}  // namespace

void drain(const Process& process, TeamFactory& teams, GroupRegistry& groups, Storage& storage) {
  std::string left;
  for (const GroupParameters& parameters : groups_of(process.resilient(), teams, storage)) {
    const RejoinResult formed = groups.create(parameters, process.resilient(), [] {});
    Group& group = groups.at(parameters.id);
    const std::string name = "group " + std::to_string(parameters.id);
    fault_point("drain.formed");
    if (!formed.resumed) {
      left += left.empty() ? name : ", " + name;
    } else if (storage.has_dataset_of_start(group)) {
      log().info("{}: the store has the commit that is in memory", name);
    } else {
      storage.flush(group, SnapshotChoice{}, {}, [] {});
      log().info("{}: the commit that was in memory is in the store", name);
    }
    fault_point("drain.written");
  }
  if (left.empty()) return;
  throw Error(FENIX_ERROR_NODATA_FOUND, "too little of the memory is left, or the store has something newer: " + left);
}

}  // namespace fenix_impl
