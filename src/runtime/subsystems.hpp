// SPDX-License-Identifier: BSD-3-Clause
// The parts of the library that have something of the program: groups, logs of messages, checkpoints.
#pragma once

#include "checkpoint/checkpoints.hpp"
#include "messages/log/region_logs.hpp"
#include "messages/persistent/persistence.hpp"
#include "recovery/groups/group_registry.hpp"
#include "recovery/groups/request_table.hpp"
#include "recovery/groups/storage/storage.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"
#include "runtime/attachments.hpp"
#include "runtime/callbacks.hpp"

namespace fenix_impl {

struct Subsystems {
  /// process must outlive it.
  explicit Subsystems(Process& process)
      : teams(process),
        groups(process, teams, storage),
        persistence(process, teams),
        region_logs(persistence),
        checkpoints(process, teams) {}

  Callbacks callbacks;
  Attachments attachments;
  TeamFactory teams;
  Storage storage;
  GroupRegistry groups;
  Persistence persistence;
  RegionLogs region_logs;
  Checkpoints checkpoints;
  RequestTable requests;
};

}  // namespace fenix_impl
