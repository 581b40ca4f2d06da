// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/draining.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/member/selection.hpp"

namespace fenix_impl {
namespace {

GroupKeeping::Found groups_of(MPI_Comm comm, TeamFactory& teams, Storage& storage) {
  const auto team = teams.make(comm).team;
  return together(*team, [&] { return storage.lease().find_all(*team); });
}

/// Returns why the latest commit of a group is not in the store, or nothing.
std::string drain(const GroupParameters& parameters, const Process& process, GroupRegistry& groups, Storage& storage) {
  const RejoinResult formed = groups.create(parameters, process.comms().resilient(), [] {});
  Group& group = groups.at(parameters.id);
  fault_point("drain.formed");
  if (!formed.resumed) return "too little of the memory is left, or the store has something newer";
  if (storage.start().has_dataset(group)) {
    log().info("group {}: the store has the commit that is in memory", parameters.id);
    return {};
  }
  try {
    storage.flush(group, SnapshotChoice{}, {}, [] {});
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // All ranks have it.
    return error.what();
  }
  log().info("group {}: the commit that was in memory is in the store", parameters.id);
  return {};
}

}  // namespace

void drain(const Process& process, TeamFactory& teams, GroupRegistry& groups, Storage& storage) {
  const GroupKeeping::Found found = groups_of(process.comms().resilient(), teams, storage);
  std::string left;
  const auto note = [&left](int id, const std::string& why) {
    left += (left.empty() ? "group " : "; group ") + std::to_string(id) + ": " + why;
  };
  for (const int id : found.unusable) note(id, "it had another number of ranks, or they may live yet");
  for (const GroupParameters& parameters : found.groups) {
    const std::string why = drain(parameters, process, groups, storage);
    if (!why.empty()) note(parameters.id, why);
    fault_point("drain.written");
  }
  if (found.groups.empty() && found.unusable.empty()) left = "no memory with commits is kept on the nodes of this job";
  if (!left.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, left);
}

}  // namespace fenix_impl
