// SPDX-License-Identifier: BSD-3-Clause
// The flushes of this process: what its groups offer to the keeper, and what has become of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "core/group.hpp"
#include "keeper/client/client.hpp"
#include "recovery/groups/storage/failed_flushes.hpp"

namespace fenix_impl {

/// Threads may use it at the same time, for different groups.
class Flushing {
 public:
  using Check = std::function<void()>;
  using Outcome = FlushOutcome;

  /// State of a flush, as the public functions have it.
  enum class State { none, writing, written, complete, failed };
  struct Progress {
    State state = State::none;
    std::uint64_t bytes = 0;  ///< written by this node
  };
  struct OfGroup {
    std::vector<std::uint32_t> writers;                         ///< by rank
    std::uint64_t automatic = 0;                                ///< the latest automatic flush, if it has not ended
    bool is_behind = false;                                     ///< it has been waited for in vain
    bool speaks = true;                                         ///< this rank is the first of its node
    bool has_failed = false;                                    ///< the last automatic flush that has ended
    std::deque<std::pair<DatasetName, std::uint64_t>> flushes;  ///< the latest ones, oldest first
  };

  /// limit: for a store or a commit that waits for a flush.
  void begin(std::shared_ptr<KeeperClient> keeper, std::chrono::milliseconds limit);
  void clear();

  /// Agrees with the other ranks on a snapshot. Collective. check: of the arguments.
  [[nodiscard]] static Epoch agree(Group& group, const SnapshotChoice& choice, const std::string& label,
                                   const Check& check);
  /// Writes it, and returns when all ranks have it in the store. Collective.
  void flush(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch, const std::string& label);
  /// Begins to write it. Returns a number for outcome(). Collective.
  [[nodiscard]] std::uint64_t begin_flush(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch,
                                          const std::string& label);
  /// Flushes the latest commit of this rank, unless the one before hangs. Waits for that for a while. Local. Throws as Team::check(), and
  /// Error.
  void flush_latest(Group& group, OfGroup& mine, std::uint32_t run);
  /// Has the keeper keep the latest commit of this rank, to write it if nobody takes the memory. Local. Throws Error.
  void keep_latest(Group& group, const OfGroup& mine, std::uint32_t run);
  /// Begins anew with a group that is formed or taken up again: no rank offers anything more of the generations before.
  void begin_generation(Group& group, OfGroup& mine, std::vector<std::uint32_t> writers);

  /// Returns how a flush has ended; nullopt if it has not. It does not last for ever: the keeper gives up when a file system does not
  /// move. Local.
  [[nodiscard]] std::optional<Outcome> outcome(std::uint64_t flush);
  /// Throws Error if a flush that has ended has not written. Local.
  void check_result(std::uint64_t flush);
  [[nodiscard]] Progress progress(const OfGroup& mine, int time_stamp);
  /// Waits for the flushes of a group at the end of the use of Fenix: no rank offers anything more.
  void wait_at_end(int group_id, OfGroup& mine, const Deadline& deadline);
  static void wait_a_little();

 private:
  /// Warns of an automatic flush that has failed, or that has not ended: once for each time that flushes begin to fail, on each node.
  void look_at_automatic(int group_id, OfGroup& mine);
  std::uint64_t offer(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch, const std::string& label);
  /// Returns how a flush has ended; nullopt if it has not after a while. Throws as Team::check().
  std::optional<Outcome> wait_for_outcome(Team& team, std::uint64_t flush);

  std::shared_ptr<KeeperClient> keeper_;
  std::chrono::milliseconds limit_{0};
  FailedFlushes failed_;
  std::mutex mutex_;  // protects them
};

}  // namespace fenix_impl
