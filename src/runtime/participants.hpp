// SPDX-License-Identifier: BSD-3-Clause
// The parts of the library that keep something across repairs.
#pragma once

#include "checkpoint/checkpoints.hpp"
#include "messages/log/region_logs.hpp"
#include "messages/persistent/persistence.hpp"
#include "recovery/groups/group_registry.hpp"
#include "recovery/process/process.hpp"
#include "runtime/recovery_policy.hpp"
#include "runtime/repair_participant.hpp"

namespace fenix_impl {

/// Groups: commits in place are settled, and the group of all ranks is taken up.
class GroupsInRepair final : public RepairParticipant {
 public:
  /// Both must outlive it.
  GroupsInRepair(Process& process, GroupRegistry& groups) : process_(process), groups_(groups) {}

  [[nodiscard]] int answers() const override;
  void detach(int said_yes) override;
  void reattach(int said_yes) override;
  void put_off() override;

 private:
  void reattach_world();

  Process& process_;
  GroupRegistry& groups_;
};

/// Logs of messages: they are taken up, or all ranks have to go back.
class LogsInRepair final : public RepairParticipant {
 public:
  /// All must outlive it.
  LogsInRepair(const Process& process, Persistence& persistence, RegionLogs& region_logs, const RecoveryPolicy& policy)
      : process_(process), persistence_(persistence), region_logs_(region_logs), policy_(policy) {}

  [[nodiscard]] int answers() const override;
  void detach(int said_yes) override;
  void reattach(int said_yes) override;

 private:
  const Process& process_;
  Persistence& persistence_;
  RegionLogs& region_logs_;
  const RecoveryPolicy& policy_;
};

/// Checkpoints: they begin anew.
class CheckpointsInRepair final : public RepairParticipant {
 public:
  /// checkpoints must outlive it.
  explicit CheckpointsInRepair(Checkpoints& checkpoints) : checkpoints_(checkpoints) {}

  void detach(int said_yes) override;

 private:
  Checkpoints& checkpoints_;
};

}  // namespace fenix_impl
