// SPDX-License-Identifier: BSD-3-Clause
// Forming a group on a team: for the first time, or again after a repair, with the data that its living members still
// have.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/group.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"
#include "store/dataset_name.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

struct RejoinResult {
  bool existed = false;         ///< some rank knew the group
  bool snapshots_lost = false;  ///< there were snapshots, and none can be restored
  bool awaits_store = false;    ///< a dataset of the store may take the place of what is not there
  StoreRun run;                 ///< this job on its store, as far as some rank knows it
  bool resumed = false;         ///< the group goes on from a dataset of the store, or from memory of an earlier run
  std::uint32_t kept_run = 0;   ///< run that has left the memory from which the group goes on, or 0
  Generation kept_generation;   ///< of the group then
  bool shares_fate = false;     ///< the death of one of several nodes or failure domains would lose snapshots
};

/// The store of the job, as far as a group that is formed has to know it.
struct StoreOfJob {
  StoreRun run;  ///< this job on it
  struct Newest {
    std::optional<DatasetName> name;  ///< that the group could go on from
    bool is_chosen = false;           ///< by the user
  };
  /// Looks what there is, in this run. Called on the first rank.
  std::function<Newest(const StoreRun& run)> look;
};

/// The arguments of rejoin(). Exceptions of the functions on one rank are thrown on all.
struct RejoinArguments {
  GroupParameters wanted;       ///< if no rank knows the group
  std::function<void()> check;  ///< checks them; called if no rank knows the group
  std::shared_ptr<Team> team;
  std::function<std::shared_ptr<Path>()> choose_path;
  StoreOfJob store;
  Generation& highest;  ///< newest generation that this process has seen of any group; it is raised
};

/// Forms the group, or takes it up again. Collective over the team. group is this rank's part of it, or null; on return
/// it is attached. Throws PeerFailure when a rank dies in the meantime. The part that this rank has got so far then stays
/// in group, and the next rejoin starts from there. A group that has only been described (kept_group.hpp) is taken up with its memory,
/// or dropped if something better is there.
RejoinResult rejoin(std::unique_ptr<Group>& group, const RejoinArguments& arguments);

}  // namespace fenix_impl
