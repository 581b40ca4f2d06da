// SPDX-License-Identifier: BSD-3-Clause
// The data of a group on this rank. Group owns it, operations work on parts of it, and each part leaves the others alone.
#pragma once

#include <functional>
#include <memory>

#include "base/types.hpp"
#include "core/state/archive.hpp"
#include "core/state/inherited_memory.hpp"
#include "core/state/operation_context.hpp"
#include "core/state/stored_archive.hpp"

namespace fenix_impl {

/// How far this rank has come with a group.
enum class GroupState {
  incomplete,  ///< has the place of a failed rank, and lacks its data until that has been rebuilt
  complete,    ///< has what it should have; between two teams, or about to rejoin
  working,     ///< all ranks of its team have rejoined
  deleted      ///< drops everything, and still takes part in the next barrier, in which its peers hear of it
};

/// The state of a group towards the store of the job.
struct StoreState {
  bool is_awaited = false;  ///< the group is new, and nobody has looked yet whether the store has a dataset of it
  /// Dataset of another number of ranks, until the team has a snapshot of its own; or null.
  std::unique_ptr<StoredArchive> dataset;
  /// Called before the record of a commit counts, when the memory is as the record needs it. Does not throw.
  std::function<void()> before_record = [] {};
};

struct GroupData {
  explicit GroupData(const GroupParameters& arguments) : parameters(arguments) {}
  GroupData(const GroupData&) = delete;
  GroupData& operator=(const GroupData&) = delete;

  GroupParameters parameters;
  GroupState state = GroupState::incomplete;
  Shape shape;                    ///< of the team that the group has or had
  bool owes_loss_report = false;  ///< the application has still to be told that snapshots were lost
  Members members;
  Attachment attachment{parameters};
  CommitLog log{parameters, attachment.ranks()};
  InheritedMemory inherited;
  std::unique_ptr<Archive> archive;  ///< what was put aside when the team got another shape, or null
  StoreState store;
  RequestQueue requests{members, attachment};
  Reclaimer reclaimer{parameters, log, attachment, archive, store.dataset};
  PendingCommit pending{members};
  OperationContext context{parameters, members, log, attachment, reclaimer, requests, pending, store.before_record};
};

}  // namespace fenix_impl
