// SPDX-License-Identifier: BSD-3-Clause
// Coordinated checkpoints that do not block (Bronevetsky et al., see docs/design/messages.md): each rank stores its data at a call of its own choice, and logs until all messages
// that cross the line have come. Calls of MPI come here from libfenix_mpi; collective operations come as messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "checkpoint/channels.hpp"
#include "checkpoint/line_in_progress.hpp"
#include "checkpoint/line_protocol.hpp"
#include "checkpoint/message_counts.hpp"
#include "checkpoint/replay.hpp"
#include "checkpoint/schedule.hpp"
#include "core/group.hpp"
#include "interposition/determinant_kind.hpp"
#include "interposition/message_counters.hpp"
#include "interposition/partner.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"

namespace fenix_impl {

/// Calls of one process must not overlap: programs with several threads that call MPI at a time are not supported.
class Checkpoints {
 public:
  /// Returns the group of the checkpoints.
  using GroupOf = std::function<Group&()>;

  /// Both must outlive it.
  Checkpoints(Process& process, TeamFactory& teams) : process_(process), teams_(teams), channels_(process) {}

  // ------------------------------------------------------------------------------------------------------------ begin, end

  /// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) on all ranks if a member, other than that for the log, is resizeable. Changes nothing.
  static void require_fixed_sizes(Group& group, int log_member);
  /// Takes memory for the log, which the log member stores. If it has the same size as before, the old one stays. Local.
  void take_log_memory(std::vector<std::byte> memory) {
    if (memory_.size() != memory.size()) memory_ = std::move(memory);
  }
  [[nodiscard]] std::span<std::byte> log_memory() { return memory_; }
  /// Looks whether all ranks have a log in that memory from which they can go on. Collective over the resilient communicator, as all here.
  /// is_there: whether this rank has restored one. Throws as Team does.
  [[nodiscard]] bool is_usable(bool is_there);
  /// Counts messages from now on. goes_on: from the log that is in the memory. group: with the log member. Throws as Team does,
  /// Error(FENIX_ERROR_NODATA_FOUND).
  void begin(bool goes_on, GroupOf group, int log_member);
  /// Passes the line that some rank has been asked for, waits until it is complete, and counts no more. Throws as Team does.
  void finish();
  /// Forgets all, after a repair or at the end. Local.
  void clear();

  [[nodiscard]] bool is_active() const { return active_.load(std::memory_order_acquire); }

  // ---------------------------------------------------------------------------------------------------- checkpoints, local

  /// Asks all ranks for a checkpoint. On rank 0.
  void request();
  /// Returns when take_if_requested is to be called.
  [[nodiscard]] CheckpointSchedule& schedule() { return schedule_; }
  /// Takes a checkpoint if one is wanted and can be taken now. Returns whether it has. has_open_receives: of the program. Throws what has
  /// cut short the latest one on this rank.
  bool take_if_requested(bool has_open_receives);
  /// Goes on with the line under way as far as is possible without a wait.
  void progress();
  /// Complete lines of this rank since begin.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

  // -------------------------------------------------------------------------------------------------------- messages, local

  [[nodiscard]] MessageCounts& counts() { return counts_; }
  /// Returns what comes from before the restart.
  [[nodiscard]] CheckpointReplay& replay() { return replay_; }
  [[nodiscard]] const LineInProgress& line() const { return line_; }

  /// Counts a message that is about to be sent. Returns false if its receiver has had it before the restart.
  [[nodiscard]] bool count_send(const Partner& to);
  /// Returns the number of the message that a receive gets.
  [[nodiscard]] std::uint64_t begin_receive(const Partner& from);
  /// Say what libfenix_mpi may do by itself with messages of a partner: count them, unless a line or a restart needs more.
  [[nodiscard]] FastSend allow_send(const Partner& to);
  [[nodiscard]] FastReceive allow_receive(const Partner& from);
  /// Notes that a receive has its message. pack: its bytes.
  void end_receive(const Partner& from, std::uint64_t number, const std::function<std::vector<std::byte>()>& pack);
  void take_back(const Partner& partner, bool is_sent);

  /// As in DeterminantLog.
  [[nodiscard]] std::optional<std::vector<int>> next(DeterminantKind call, bool may_be_negative);
  /// Notes that a message is there, with the number of its receive, or 0 if it has none yet. The outcome of a probe depends on it, before
  /// the message is received.
  void note_found(const Partner& from, std::uint64_t number);
  void note(DeterminantKind call, std::span<const int> outcome);
  void note_match(std::uint64_t receive, int source, int tag);

 private:
  [[nodiscard]] bool may_only_count() const { return is_active() && !line_.is_under_way() && !is_busy(); }
  [[nodiscard]] bool is_busy() const { return control_->phase() != LineControl::Phase::idle; }
  [[nodiscard]] bool are_counts_known() const { return control_->phase() >= LineControl::Phase::logging; }
  void keep_within_room() { line_.keep_within(memory_.size(), are_counts_known()); }
  void agree_on_sizes();
  void take();
  void refuse();
  void go_on();
  void stop_if_complete();
  void seal();
  void give_up_line();

  Process& process_;
  TeamFactory& teams_;
  std::atomic<bool> active_{false};
  std::vector<std::byte> memory_;  // for the log
  GroupOf group_;
  int log_member_ = 0;
  std::shared_ptr<MpiTeam> team_;
  std::unique_ptr<LineControl> control_;
  std::uint64_t lines_ = 0;
  CheckpointSchedule schedule_;
  Channels channels_;
  MessageCounts counts_{channels_};
  CheckpointReplay replay_{channels_, counts_};
  LineInProgress line_;
  std::optional<Error> broken_;  // why this rank takes no more checkpoints
};

}  // namespace fenix_impl
