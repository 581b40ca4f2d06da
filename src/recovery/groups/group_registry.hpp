// SPDX-License-Identifier: BSD-3-Clause
// The groups of this process, by id: found, formed on a team, and deleted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/group.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "recovery/groups/storage/storage.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"

namespace fenix_impl {

class GroupRegistry {
 public:
  /// All must outlive it.
  GroupRegistry(Process& process, TeamFactory& teams, Storage& storage)
      : process_(process), teams_(teams), storage_(storage) {}

  /// Makes the group of all ranks known on this rank: without a team, which its first collective call gives it. Local.
  void know_world();
  /// Whether the group of all ranks has or had a team. Local.
  [[nodiscard]] bool uses_world() const;
  /// Forms the group of all ranks, or takes it up again. Collective over the resilient communicator.
  void form_world();

  /// Returns the group, deleted or not, or null. Local.
  [[nodiscard]] Group* find(int group_id) const;
  [[nodiscard]] bool has(int group_id) const;
  /// Throws Error(FENIX_ERROR_INVALID_GROUPID). Local.
  [[nodiscard]] Group& at(int group_id) const;
  /// Returns the group for local work with stored data. Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) too, if the group
  /// has to be created again, and PeerFailure if a repair has to come first. The group of all ranks works without a team as long as
  /// it has no member.
  [[nodiscard]] Group& attached(int group_id) const;

  /// Returns the ranks in the resilient communicator of the ranks of an attached group. Local.
  [[nodiscard]] const std::vector<int>& ranks_of(int group_id) const;

  /// Forms a group, or takes it up again. Collective over comm.
  RejoinResult create(const GroupParameters& parameters, MPI_Comm comm, const std::function<void()>& check_arguments);
  /// Deletes a group here; its peers hear of it in the next barrier. Throws Error(FENIX_ERROR_INVALID_GROUPID). Local.
  void remove(int group_id);
  /// Forgets a group. Local.
  void erase(int group_id);
  /// Detaches from the team of each group, as a repair has begun; groups that were deleted go. Local.
  void detach_all();
  /// Whether a commit in place was cut short on this rank. Local.
  [[nodiscard]] bool has_pending_commits() const;
  /// Settles them. Collective over a team of all active ranks, while all groups are detached. Throws as Team does.
  void settle_commits(Team& team);
  /// Keeps what was stored for them, as the application gets its buffers back. Local.
  void keep_buffers();
  /// Ends the use of all groups. Local.
  void clear();

 private:
  RejoinResult create(const GroupParameters& parameters, const std::shared_ptr<MpiTeam>& team,
                      const std::function<void()>& check_arguments);
  void keep_only_complete(int group_id);
  [[nodiscard]] std::vector<int> deleted_groups() const;
  void give_back_deleted(Team& team, const std::vector<int>& ranks);
  void give_back(int group_id);

  Process& process_;
  TeamFactory& teams_;
  Storage& storage_;
  Generation highest_;        // of all groups
  mutable std::mutex mutex_;  // protects the map; a group is for one thread at a time
  std::map<int, std::unique_ptr<Group>> groups_;
  std::map<int, std::vector<int>> ranks_;  // by group, of its latest team
};

}  // namespace fenix_impl
