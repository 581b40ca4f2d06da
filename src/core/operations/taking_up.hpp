// SPDX-License-Identifier: BSD-3-Clause
// A group between two teams: it lets go of one, keeps what is committed, and is made ready for the next one. The steps are put
// together by recovery/groups/rejoin.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/state/group_parts.hpp"

namespace fenix_impl {

class TakingUp {
 public:
  explicit TakingUp(GroupParts& parts) : parts_(parts) {}

  // ---------------------------------------------------------------------------------------------------------- letting go

  /// Lets go of the team and of all that leads to peers. Commits stay. Local.
  void detach();
  /// Drops all snapshots and regions, and the other ranks' counts. Local.
  void forget_snapshots();
  /// Drops everything, but can still take part in make_consistent(). Local.
  void mark_deleted();
  /// Drops everything, and gives its memory back. Only the end of the group is left. Collective.
  void give_back_all();

  // ------------------------------------------------------------------------------------------------------------- archive

  /// Puts snapshots and regions aside, for restore_from: the team has another shape now. Local.
  void archive_snapshots();
  /// Says which archive is of use, and what for; the same on all ranks. Ranks without it get an empty one. Local.
  void keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs);
  /// Makes what the ranks have put aside reachable. Collective, jointly successful.
  void attach_archive();

  // --------------------------------------------------------------------------------------------------------- a new team

  /// Takes over the parameters that the others have: a change that was cut short may have reached some ranks only. Nothing is
  /// stored then. Local.
  void adopt_parameters(const GroupParameters& parameters) { parts_.parameters = parameters; }
  /// Sets the team, of which this rank has the rank that it had, or a first one. Local.
  /// order: of its ranks, for the placement. memory_is_real: the path of some rank makes all memory of a region real.
  void set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order, bool memory_is_real);
  /// Takes over the memory of the rank before, if it can be had. False if not. Local.
  bool adopt_memory(std::span<const OrphanedRegion> regions);
  /// Takes the memory that is still missing for so many entries of the log, each of so many bytes at least. Local;
  /// Error(FENIX_ERROR_NO_MEMORY).
  void take_memory(std::uint32_t entries, std::size_t least_entry_bytes);
  /// Makes control and member regions reachable for all. Collective, jointly successful.
  void expose();
  /// Drops all snapshots, and goes on from base with the team that there is. Peers must not publish before all ranks have done this. Local.
  void begin_anew(Epoch base);
  /// Goes on from base with the given epochs, which are all that is left. Peers must not publish before all ranks have done
  /// this. Local.
  void resume(Generation generation, Epoch base, std::span<const Epoch> epochs);

 private:
  GroupParts& parts_;
};

}  // namespace fenix_impl
