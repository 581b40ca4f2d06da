// SPDX-License-Identifier: BSD-3-Clause
// The store behind memory, as a job uses it: its run, what is flushed, and what groups go on from. Switched on by FENIX_STORE.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "core/group.hpp"
#include "keeper/client.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "recovery/groups/storage/commit_schedule.hpp"
#include "recovery/groups/storage/flushing.hpp"
#include "recovery/groups/storage/group_keeping.hpp"
#include "recovery/groups/storage/halting.hpp"
#include "recovery/groups/storage/store_settings.hpp"

namespace fenix_impl {

class Storage {
 public:
  using Check = std::function<void()>;

  // ----------------------------------------------------------------------------------------------------------------- run

  /// Begins a use of Fenix: reads the settings.
  void begin();
  /// Begins a run, on one rank of the job. Its number is 0 if there is no store, or it cannot be used.
  [[nodiscard]] StoreRun begin_run() noexcept;
  /// Takes over what another rank knows.
  void adopt_run(const StoreRun& run);
  /// Ends the use: waits for flushes that are under way, for a while. is_first: this rank notes for all that the run has ended.
  void finish(bool is_first) noexcept;
  [[nodiscard]] std::uint32_t run() const { return run_.number; }
  /// Returns the run whose data this one has begun with, or 0.
  [[nodiscard]] std::uint32_t origin() const { return origin_; }
  [[nodiscard]] bool is_on() const { return run_.is_on(); }
  /// Whether this job is only to write what the keepers have.
  [[nodiscard]] bool drains() const { return settings_.drains; }

  // -------------------------------------------------------------------------------------------------------------- groups

  /// Whether a group goes on from the store; if not, whether the store has datasets of it, none of which could be used.
  enum class Resumed { no, yes, unusable };
  /// Returns the group that this rank had in an earlier run, if the keeper of the node has its memory; or null. team: of the new one. Local.
  [[nodiscard]] std::unique_ptr<Group> kept_group(int group_id, Team& team);
  /// Returns the groups of which keepers have memory. Collective over the team. Throws Error(FENIX_ERROR_STORE) without a store.
  [[nodiscard]] GroupKeeping::Found kept_groups(Team& team);
  /// Whether the store has the snapshot with which a group has begun in this job. Collective over the group.
  [[nodiscard]] bool has_dataset_of_start(Group& group);
  /// Returns what rejoin() has to know. team: of the group.
  [[nodiscard]] StoreOfJob for_rejoin(int group_id, Team& team);
  /// Prepares a group that has been formed, or taken up again. Collective over the group.
  Resumed take_up(Group& group, const RejoinResult& formed);
  /// Goes on from another dataset, in place of all that the group has. label: of the user; empty: the newest one. Returns the time stamp.
  /// Collective. Throws Error(FENIX_ERROR_NODATA_FOUND) if there is none.
  int fetch(Group& group, const std::string& label, const Check& check);
  /// Goes on from the next older dataset if this one is no good on some rank; false then. Collective. Throws as fetch().
  bool end_restart(Group& group, bool is_good);
  /// Forgets a group that is deleted, and its snapshots that are kept for the next job. Its flushes go on. generation: the latest one.
  void forget(int group_id, std::uint32_t generation);
  /// Forgets a snapshot that is deleted, if it is kept for the next job.
  void forget_snapshot(const Group& group, int time_stamp) noexcept;

  // --------------------------------------------------------------------------------------------------------------- flush

  /// Writes a snapshot, and returns when all ranks have it in the store. Collective.
  void flush(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check);
  /// Begins to write a snapshot. Returns a number for Flushing::outcome(). Collective.
  [[nodiscard]] std::uint64_t begin_flush(Group& group, const SnapshotChoice& choice, const std::string& label,
                                          const Check& check);
  /// Returns what has become of the flushes of this process.
  [[nodiscard]] Flushing& flushes() { return flushing_; }
  [[nodiscard]] Flushing::Progress progress(Group& group, int time_stamp);
  /// Sets how often commits of a group are flushed: each n-th one, or 0 for never.
  void set_every(Group& group, int every);
  /// Flushes the latest commit of this rank, if it is its turn. Local; does not wait for a file system.
  void after_commit(Group& group) noexcept;

  // ------------------------------------------------------------------------------------------------------- when, how long

  /// Whether a group should commit. Collective.
  [[nodiscard]] bool needs_commit(Group& group, const Check& check);
  /// Returns whether it should commit as far as this rank knows. Local.
  [[nodiscard]] bool needs_commit_here(Group& group);
  /// Returns the schedule of a group if it has to know how long stores take, or null. Local.
  [[nodiscard]] CommitSchedule* measured_schedule(const Group& group);
  /// Whether the job should end. Collective over the group of all ranks.
  [[nodiscard]] bool should_halt(Group& world, const Check& check);
  /// Has the job end. Local. Throws Error(FENIX_ERROR_STORE).
  void halt(const std::string& reason);

  // ------------------------------------------------------------------------------------------------------------ datasets

  /// Returns the keeper of this node. Throws Error(FENIX_ERROR_STORE) without a store.
  [[nodiscard]] KeeperClient& keeper();
  [[nodiscard]] std::vector<Listed>& listed() { return listed_; }

 private:
  void clear();
  /// Throws Error(FENIX_ERROR_STORE) if this run can write nothing.
  void require_writing();
  /// Whether memory is kept for the next job.
  [[nodiscard]] bool keeps_memory() const { return settings_.lease != 0 && run_.only_reads == 0; }

  struct OfGroup {
    Generation generation;  ///< in which it was taken up
    int every = 0;
    /// The keeper could not be reached. Looks are too rare for a Deadline.
    std::chrono::steady_clock::time_point quiet_until;
    CommitSchedule schedule;
    std::optional<DatasetName> begun_with;  ///< and has not committed since
    std::vector<std::string> passed_over;   ///< datasets, when it began
    Flushing::OfGroup flushes;
  };
  /// The answer of the store, as all ranks hear it.
  struct Found {
    std::optional<DatasetPlan> plan;
    bool has_unusable = false;  ///< there are datasets that would have come before it, and cannot be used
  };
  [[nodiscard]] Found find(Group& group, const std::string& label, const std::vector<std::string>& passed_over);
  /// Loads the first dataset that can be loaded. passed_over: names of some that are of no use. Collective.
  Resumed load_newest(Group& group, const std::string& label, std::vector<std::string> passed_over);
  Resumed go_on_with_memory(Group& group, const RejoinResult& formed);
  int fetch_from(Group& group, const std::string& label, std::vector<std::string> passed_over);
  Epoch agree(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check);
  /// Has the keeper keep the memory of a group, if it has not this memory already.
  void keep_memory(Group& group) noexcept;
  /// Has the keeper forget the memory of a group on this rank that a run and earlier ones have left.
  void drop_kept(const Group& group, std::uint32_t run) noexcept;
  /// Has the keeper forget what earlier jobs have left in memory, as this one keeps none.
  void release_earlier() noexcept;
  /// Warns once if the keeper keeps nothing of this rank.
  void warn_of_refusal();
  /// Returns how long a store or a commit waits for a flush: other ranks may wait for this one meanwhile.
  [[nodiscard]] std::chrono::milliseconds patience() const;
  OfGroup& of(const Group& group);
  OfGroup* find_of(const Group& group);

  StoreSettings settings_;
  std::shared_ptr<KeeperClient> keeper_;
  StoreRun run_;
  std::string why_off_;  ///< the store could not be used
  std::uint32_t origin_ = 0;
  std::map<int, OfGroup> groups_;
  GroupKeeping keeping_;
  Flushing flushing_;
  std::mutex mutex_;  // protects the map of groups; a group is for one thread at a time
  std::vector<Listed> listed_;
  bool plans_commits_ = false;  ///< the environment says when to commit
  Halting halting_;
  std::atomic<bool> has_warned_of_refusal_{false};
  std::atomic<bool> has_released_{false};
  std::atomic<std::uint64_t> commits_{0};  ///< of all groups, by any thread
};

}  // namespace fenix_impl
