// SPDX-License-Identifier: BSD-3-Clause
// Memory of groups that outlives the job: the keeper of the node has it, and gives it to the next job. Local.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/group.hpp"
#include "keeper/client/client.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Threads may use it at the same time, for different groups. All throw Error(FENIX_ERROR_STORE).
class GroupKeeping {
 public:
  /// Has the keeper keep the memory of a group, if it has not this memory already.
  void keep(KeeperClient& keeper, Group& group, std::uint32_t run);
  /// Has it forgotten, as the group is deleted. Does nothing if it is not kept.
  void forget(KeeperClient* keeper, int group_id);
  /// Returns the group that the rank of this number had in an earlier run, without a team; or null. team: of the new group; limit: for
  /// the keeper.
  [[nodiscard]] static std::unique_ptr<Group> find(KeeperClient& keeper, int group_id, Team& team, std::uint32_t run,
                                                   std::chrono::milliseconds limit);
  struct Found {
    std::vector<GroupParameters> groups;  ///< with commits, of as many ranks as the team
    std::vector<int> unusable;            ///< ids of groups of which no rank of the team can have its memory
  };
  /// Returns the groups of which the keepers of the team's nodes have memory. run: this one. Collective. Throws on all ranks if a keeper
  /// does not answer.
  [[nodiscard]] static Found all(KeeperClient& keeper, Team& team, std::uint32_t run, std::chrono::milliseconds limit);
  void clear() { kept_.clear(); }

 private:
  struct Kept {
    KeptGroupOf of;
    std::vector<std::byte> description;
    std::uint64_t connection = 0;  ///< by which the keeper got it
  };

  std::mutex mutex_;  // protects the map
  std::map<int, Kept> kept_;
};

}  // namespace fenix_impl
