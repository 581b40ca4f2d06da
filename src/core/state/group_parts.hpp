// SPDX-License-Identifier: BSD-3-Clause
// The parts of a group on this rank. Group owns them; operations work on them; they know nothing of each other's business.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/types.hpp"
#include "core/state/archive.hpp"
#include "core/state/kept_memory.hpp"
#include "core/state/operation_context.hpp"
#include "core/state/orphaned_memory.hpp"
#include "core/state/stored_archive.hpp"

namespace fenix_impl {

/// How far this rank has come with a group.
enum class GroupState {
  incomplete,  ///< has the place of a dead rank, and lacks what that one had until it has been rebuilt
  complete,    ///< has what it should have; between two teams, or about to be taken up
  working,     ///< taken up by all ranks of its team
  deleted      ///< drops everything, and still takes part in the next barrier, in which its peers hear of it
};

struct GroupParts {
  explicit GroupParts(const GroupParameters& arguments) : parameters(arguments) {}
  GroupParts(const GroupParts&) = delete;
  GroupParts& operator=(const GroupParts&) = delete;

  GroupParameters parameters;
  GroupState state = GroupState::incomplete;
  Shape shape;                    ///< of the team that the group has or had
  bool owes_loss_report = false;  ///< the application has still to be told that snapshots were lost
  Members members;
  Attachment attachment{parameters};
  CommitLog log{parameters, attachment.ranks()};
  OrphanedMemory orphaned;           ///< of another rank, from a failure until the group goes on
  std::unique_ptr<KeptMemory> kept;  ///< of an earlier run, until the group has it, or goes on without it; or null
  std::unique_ptr<Archive> archive;  ///< what was put aside when the team got another shape, or null
  std::unique_ptr<StoredArchive>
      stored;  ///< a dataset of another number of ranks, until the team has a snapshot of its own; or null
  /// Origin of the memory, as long as some rank may not have taken up its own.
  std::optional<KeptOrigin> kept_origin;
  /// Number of jobs, this one among them, that have gone on with the memory and have not committed.
  std::uint32_t tries_of_memory = 0;
  /// Called before the record of a commit counts, when the memory is as the record needs it. Does not throw.
  std::function<void()> before_record = [] {};
  bool awaits_store = false;  ///< the group is new, and nobody has looked yet whether the store has a dataset of it
  RequestQueue requests{members, attachment};
  Reclaimer reclaimer{parameters, log, attachment, archive, stored};
  PendingCommit pending{members};
  OperationContext context{parameters, members, log, attachment, reclaimer, requests, pending, before_record};
};

}  // namespace fenix_impl
