// SPDX-License-Identifier: BSD-3-Clause
// A group between two teams: after a failure its pending commit is settled, and what is committed is made ready for the next team.
// The steps are put together by recovery/groups, which has no other way to the data of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/operations/rebuild.hpp"
#include "core/operations/shared_rebuild.hpp"
#include "core/state/group_data.hpp"

namespace fenix_impl {

/// A handle, valid as long as the group.
class GroupRecovery {
 public:
  /// The team that a group is to have.
  struct NewTeam {
    std::shared_ptr<Team> team;
    std::shared_ptr<Path> path;
    std::vector<int> order;       ///< of its ranks, for the placement
    bool memory_is_real = false;  ///< the path of some rank makes all memory of a region real
    Shape shape;
  };

  explicit GroupRecovery(GroupData& data) : data_(data) {}

  // -------------------------------------------------------------------------------------------------------------- queries

  /// Returns the shape of the team that the group has or had.
  [[nodiscard]] const Shape& shape() const { return data_.shape; }
  /// Returns the latest epoch that this rank knows to be committed on every rank, from what peers have written here.
  [[nodiscard]] Epoch known_on_all() { return data_.log.known_on_all(); }
  /// Whether this rank owes the application the report that snapshots were lost.
  [[nodiscard]] bool owes_loss_report() const { return data_.owes_loss_report; }
  /// Whether a dataset of the store may still take the place of what the group has.
  [[nodiscard]] bool awaits_store() const { return data_.store.is_awaited || data_.store.dataset; }
  /// Returns the memory with which the group has been described, until it is taken over; or null.
  [[nodiscard]] const KeptMemory* kept_memory() const { return data_.inherited.kept.get(); }
  /// Returns where the memory comes from that was taken over, as long as some rank may not have taken over its own.
  [[nodiscard]] const std::optional<KeptOrigin>& kept_origin() const { return data_.inherited.origin; }
  /// Returns the number of jobs, this one among them, that have gone on with the memory and have not committed.
  [[nodiscard]] std::uint32_t tries() const { return data_.inherited.tries; }
  /// Returns what this rank has put aside of a team of another shape, or null.
  [[nodiscard]] const Archive* archive() const {
    return data_.archive && !data_.archive->empty() ? data_.archive.get() : nullptr;
  }

  // ------------------------------------------------------------------------------------------------------ pending commits

  [[nodiscard]] bool has_pending_commit() const { return !data_.pending.epoch().none(); }
  /// Copies what a pending commit has in buffers of the application, which gets control before it is settled. Local.
  void keep_buffers() { data_.pending.keep_buffers(); }
  /// Settles the pending commits of groups: see settle_commits(). Collective.
  static void settle(Team& team, std::span<const GroupRecovery> groups);

  // --------------------------------------------------------------------------------------------------- memory of the dead

  /// Gives a new group the shape that it had in an earlier run, and the memory that is left of it. Local.
  void describe(const Shape& shape, KeptMemory memory);
  /// Counts no job against the memory: one has committed, or does not mean to. Local.
  void forget_tries();
  /// Returns the memory of a failed rank of this node.
  [[nodiscard]] const OrphanedMemory& orphaned_memory() const { return data_.inherited.orphaned; }
  void drop_orphaned_memory() { data_.inherited.orphaned = {}; }
  /// Takes over the memory of the rank before, if it can be had. False if not. Local.
  bool adopt_memory(std::span<const OrphanedRegion> regions);
  /// Does the same with the memory of an earlier run, if the group has been described with some. Local.
  bool adopt_kept_memory();

  // ------------------------------------------------------------------------------------------------------------- archive

  /// Puts snapshots and regions aside, for restore_from: the team has another shape now. Local.
  void archive_snapshots();
  /// Keeps the archive of this shape, for these epochs: the same on all ranks. Ranks that have none get an empty one. Local.
  void keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs);
  /// Makes what the ranks have put aside reachable. Collective, jointly successful.
  void attach_archive();
  void drop_archive() { data_.archive.reset(); }

  // ---------------------------------------------------------------------------------------------------------- a new team

  /// Takes over the parameters that the others have: a change that was cut short may have reached some ranks only. Nothing is
  /// stored then. Local.
  void adopt_parameters(const GroupParameters& parameters) { data_.parameters = parameters; }
  /// Sets the team. This rank has the same rank there as before, or its first one. Local.
  void set_team(NewTeam next);
  /// Takes the memory that is still missing for so many entries of the log, each of so many bytes at least. Local;
  /// Error(FENIX_ERROR_NO_MEMORY).
  void take_memory(std::uint32_t entries, std::size_t least_entry_bytes);
  /// Makes control and member regions reachable for all. Collective, jointly successful.
  void expose();

  // ----------------------------------------------------------------------------------------------------------- snapshots

  /// Writes own records again that are not what they were when they were committed. Local.
  void repair_records() { (void)data_.log.mend_own(); }
  /// Voids own records of which a later commit in place has overwritten the data: they must not count as a snapshot of this rank. Local.
  void drop_overwritten();
  /// Drops all snapshots and regions. Local.
  void forget_snapshots();
  /// Voids all records, own and held, except those of the given epochs and those of epochs before oldest. Local.
  void keep_only(std::span<const Epoch> epochs, Epoch oldest) { data_.log.keep_only(epochs, oldest); }
  /// Notes that nothing is left of the data of the rank before, under a policy without redundancy. Local.
  void accept_loss() { data_.log.accept_loss(); }
  [[nodiscard]] Rebuild rebuild() { return Rebuild(data_.context); }
  /// missing: the ranks that have nothing, the same on all ranks; it must outlive the result.
  [[nodiscard]] SharedRebuild shared_rebuild(const std::set<int>& missing) { return {data_.context, missing}; }
  /// Notes that this rank has what it should have, whatever happens to the others. Local.
  void note_complete() { data_.state = GroupState::complete; }
  /// Notes until the end of the rejoin whether the application has to be told that snapshots were lost. Local.
  void owe_loss_report(bool owes) { data_.owes_loss_report = owes; }
  /// Goes on from base with the given epochs, which are all that is left. Peers must not publish before all ranks have done
  /// this. Local.
  void resume(Generation generation, Epoch base, std::span<const Epoch> epochs);
  /// Drops all snapshots, and goes on from base with the team that there is. Peers must not publish before all ranks have done this. Local.
  void begin_anew(Epoch base);
  /// Notes that all ranks go on: none will need what the ranks before have left. Local.
  void end_rejoin();

 private:
  void note_own_slots() const;

  GroupData& data_;
};

}  // namespace fenix_impl
