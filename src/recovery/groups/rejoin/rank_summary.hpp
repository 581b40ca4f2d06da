// SPDX-License-Identifier: BSD-3-Clause
// The summary that each rank gives of itself when a group is formed; merged, it tells all ranks what there is to do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "core/group.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// A summary of some of the ranks, all together. Sent to other ranks.
struct RankSummary {
  enum Flags : std::uint32_t {
    kSomeKnow = 1,          ///< a rank has the group, with all that was stored there
    kSomeNew = 2,           ///< a rank does not have it
    kSomeMoved = 4,         ///< a rank has another number than in the group
    kHasSnapshots = 8,      ///< a rank has committed, or holds what another one has committed
    kOwesReport = 16,       ///< snapshots were lost, and the application of some rank has not been told yet
    kHasArchive = 32,       ///< a rank has put something aside
    kWantedDiffers = 64,    ///< ranks gave different arguments
    kSeveralNodes = 128,    ///< ranks are on different nodes
    kSeveralDomains = 256,  ///< ranks are in different failure domains
    kAwaitsStore = 512,     ///< some rank does not know yet what the store has of the group
    kRedundant = 1024,      ///< the policy has redundancy; said of kept memory only
    kUnwanted = 2048,       ///< kept memory that is not to be taken: other arguments, or jobs have failed with it
    kSomeKnowLess = 4096,   ///< knowledge is not the same on all ranks
    kMemoryIsReal = 8192,   ///< the path of a rank makes all memory of a region real
    kOfGroup =
        kSomeKnow | kSomeMoved | kHasSnapshots | kOwesReport | kHasArchive | kAwaitsStore | kRedundant | kUnwanted
  };
  /// Knowledge of the group on the ranks. A living rank counts more than memory of an earlier run, and memory of a later run
  /// more than that of another one.
  struct Knowledge {
    enum class Kind : std::uint32_t { nothing, kept_memory, group };
    Kind kind = Kind::nothing;
    std::uint32_t run = 0;         ///< of kept memory; else 0
    std::uint32_t generation = 0;  ///< likewise
    auto operator<=>(const Knowledge&) const = default;
  };

  std::uint32_t flags = 0;
  Knowledge knowledge;  ///< the best that some rank has; all that follows about the group is of ranks that have it
  std::int32_t source = std::numeric_limits<std::int32_t>::max();  ///< the first rank of those that know most
  std::uint64_t members = 0;      ///< members that the source knows, and one for the group
  Epoch known_on_all;             ///< latest commit that all ranks are known to have made
  std::uint32_t generation = 0;   ///< the newest
  std::uint32_t log_entries = 0;  ///< entries of the longest log
  Shape least{{std::numeric_limits<std::uint32_t>::max()}, std::numeric_limits<std::int32_t>::max()};
  Shape most;    ///< of those ranks' groups that have it
  StoreRun run;  ///< this job on its store; number 0: a rank does not know it, or there is none
  GroupParameters wanted;
  Location location;

  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
  /// Takes in the summary of other ranks. The result does not depend on the order, and some ranks may come more than once.
  void merge(const RankSummary& other);
  /// Takes the group for one that no rank knows.
  void forget_group();

 private:
  void merge_group(const RankSummary& other);
  [[nodiscard]] auto quality_of_source() const { return std::tuple(members, -std::int64_t{source}); }
};

/// Returns the summary of this rank. group: null if this rank does not have it; wanted: the arguments that it was given. Local.
[[nodiscard]] RankSummary summary_of(const Team& team, Group* group, const GroupParameters& wanted,
                                     const StoreRun& run);

}  // namespace fenix_impl
