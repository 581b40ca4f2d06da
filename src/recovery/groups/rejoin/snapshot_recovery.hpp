// SPDX-License-Identifier: BSD-3-Clause
// Finding the snapshots that are left when a group is taken up again, and rebuilding what dead ranks had of them.
#pragma once

#include <set>
#include <vector>

#include "core/group.hpp"
#include "core/log/epochs.hpp"
#include "recovery/groups/rejoin/loss_report.hpp"
#include "recovery/groups/rejoin/rank_summary.hpp"
#include "recovery/groups/rejoin/replacements.hpp"

namespace fenix_impl {

/// The knowledge of the ranks before they look for snapshots.
struct SnapshotClues {
  const RankSummary& all;
  const Replacements& replacements;
  bool moved = false;     ///< ranks have other numbers now: slots can only be read, as an archive
  bool had_some = false;  ///< every rank may have had a commit of the snapshots that were put aside
  bool archived = false;  ///< snapshots were put aside
};

class SnapshotRecovery {
 public:
  SnapshotRecovery(Team& team, Group& group, const SnapshotClues& clues)
      : team_(team), group_(group), clues_(clues), self_(team.rank()) {}

  /// Collective. Returns the snapshots that are there on all ranks, with their redundancy.
  ConsistentEpochs run(LossReport& report);

 private:
  [[nodiscard]] bool goes_on_with_kept() const {
    return clues_.all.knowledge.kind == RankSummary::Knowledge::Kind::kept_memory;
  }
  [[nodiscard]] bool has_adopted() const { return clues_.replacements.has_adopted(self_); }
  CommittedEpochs find_commits();
  void note_copies(int copy, const std::vector<CommittedEpoch>& held);
  void warn_of_older(const ConsistentEpochs& result) const;
  void make_own(const ConsistentEpochs& result, bool redundant);
  void rebuild_own(const ConsistentEpochs& result);
  void drop_torn();
  void complete_adopted(const ConsistentEpochs& result);
  void rebuild_held(ConsistentEpochs& result);

  Team& team_;
  Group& group_;
  SnapshotClues clues_;
  int self_;
  std::vector<CommitLog::RecordCopy> copies_;  // of this rank's records, if it has to be rebuilt
};

}  // namespace fenix_impl
