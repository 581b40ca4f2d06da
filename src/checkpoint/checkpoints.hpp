// SPDX-License-Identifier: BSD-3-Clause
// Coordinated checkpoints that do not block (Bronevetsky et al., see docs/design/messages.md): each rank stores its data at a call of its own choice, and logs until all messages
// that cross the line have come. Calls of MPI come here from libfenix_mpi; collective operations come as messages.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/interval_set.hpp"
#include "checkpoint/line_protocol.hpp"
#include "checkpoint/line_record.hpp"
#include "core/group.hpp"
#include "interposition/decision.hpp"
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
  Checkpoints(Process& process, TeamFactory& teams) : process_(process), teams_(teams) {}

  // ------------------------------------------------------------------------------------------------------------ begin, end

  /// The seconds of FENIX_CHECKPOINT_INTERVAL, 0 without it; nothing if it is no number of seconds. Local.
  [[nodiscard]] static std::optional<double> interval_of_environment();
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
  /// Whether it is time to call take_if_requested: a millisecond or more has gone by since the latest time.
  [[nodiscard]] bool is_due();
  /// Takes a checkpoint if one is wanted and can be taken now. Returns whether it has. has_open_receives: of the program. Throws what has
  /// cut short the latest one on this rank.
  bool take_if_requested(bool has_open_receives);
  /// Goes on with the line under way as far as is possible without a wait.
  void progress();
  /// Complete lines of this rank since begin.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

  // -------------------------------------------------------------------------------------------------------- messages, local

  /// Counts a message that is about to be sent. Returns false if its receiver has had it before the restart.
  [[nodiscard]] bool count_send(const Partner& to);
  /// Returns the number of the message that a receive gets.
  [[nodiscard]] std::uint64_t begin_receive(const Partner& from);
  /// Say what libfenix_mpi may do by itself with messages of a partner: count them, unless a line or a restart needs more.
  [[nodiscard]] QuickSend allow_send(const Partner& to);
  [[nodiscard]] QuickReceive allow_receive(const Partner& from);
  /// Whether some message comes from the log. Local.
  [[nodiscard]] bool has_logged() const { return !late_.empty(); }
  /// Returns whether end_receive has to be called: it changes. Local.
  [[nodiscard]] const std::atomic<bool>& notes_ends() const { return notes_ends_; }
  /// Notes that a receive has its message. pack: its bytes.
  void end_receive(const Partner& from, std::uint64_t number, const std::function<std::vector<std::byte>()>& pack);
  void take_back(const Partner& partner, bool is_sent);
  /// Returns a late message from before the restart, or null.
  [[nodiscard]] const LateMessage* logged(const Partner& from, std::uint64_t number);
  /// Returns the first late message that no receive has got, or null. The rank and the tag may be wildcards.
  [[nodiscard]] const LateMessage* find(const Partner& from);

  /// As in DecisionLog.
  [[nodiscard]] std::optional<std::vector<int>> next(Decision call, bool may_be_negative);
  /// Notes that a message is there, with the number of its receive, or 0 if it has none yet. The outcome of a probe depends on it, before
  /// the message is received.
  void note_found(const Partner& from, std::uint64_t number);
  void note(Decision call, std::span<const int> outcome);
  [[nodiscard]] std::uint64_t begin_match() { return ++receives_; }
  [[nodiscard]] std::optional<ForcedOutcomes::Match> match_of(std::uint64_t receive) {
    return forced_.match_of(receive);
  }
  void note_match(std::uint64_t receive, int source, int tag);

 private:
  static constexpr double kPatience = 5;  // seconds

  struct Channel {
    std::vector<int> ranks;  ///< of the resilient communicator
    int own = 0;             ///< rank in the communicator
  };

  [[nodiscard]] Channel& channel_of(const Partner& partner);
  [[nodiscard]] MessageFlow flow_to(const Partner& partner) {
    return {partner.channel, channel_of(partner).own, partner.rank, partner.tag, 0};
  }
  [[nodiscard]] MessageFlow flow_from(const Partner& partner) {
    return {partner.channel, partner.rank, channel_of(partner).own, partner.tag, 0};
  }
  [[nodiscard]] bool is_replaying() const { return !forced_.empty() || !late_.empty() || open_early_ > 0; }
  [[nodiscard]] bool may_only_count() const { return is_active() && !line_ && !is_busy(); }
  [[nodiscard]] bool is_busy() const { return control_->phase() != LineControl::Phase::idle; }
  void agree_on_sizes();
  void exchange_counts(const LineRecord& record);
  void force_outcomes(const LineRecord& record);
  [[nodiscard]] std::vector<FlowCount> with_peers(const FlowCounts& counts, bool are_sent) const;
  [[nodiscard]] int peer_in(const MessageFlow& flow, bool is_sent) const;
  void take();
  void drop_line();
  void go_on();
  void learn_counts();
  void stop_if_complete();
  void seal();
  void count_from_line();
  /// Returns the trace of the line under way, or null if none is needed.
  [[nodiscard]] Trace* trace() { return line_ && line_->is_whole ? &line_->trace : nullptr; }
  void keep_within_room();
  void note_without_room(const MessageFlow& flow, std::uint64_t number);
  /// Whether this rank keeps the others waiting too long. They log their messages meanwhile.
  [[nodiscard]] bool has_kept_others_waiting(bool has_open_receives);
  void refuse();
  void give_up_line();

  Process& process_;
  TeamFactory& teams_;
  std::atomic<bool> active_{false};
  std::vector<std::byte> memory_;
  GroupOf group_;
  int log_member_ = 0;
  std::shared_ptr<MpiTeam> team_;
  std::unique_ptr<LineControl> control_;
  std::uint64_t lines_ = 0;
  std::int64_t next_look_ = 0;  // by the coarse clock
  double interval_ = 0;         // seconds between requests of rank 0; 0: none
  double next_request_ = 0;
  double next_line_ = 0;             // on rank 0: not before
  double pause_ = kPatience;         // after a line that was given up; twice as long after each
  double kept_waiting_since_ = 0;    // by open receives
  bool has_warned_of_wait_ = false;  // that others wait

  std::map<std::uint64_t, Channel> channels_;
  std::uint64_t latest_number_ = 0;  // of latest_channel_
  Channel* latest_channel_ = nullptr;
  FlowCounts sent_;                                                  // since the latest complete line, or the restart
  FlowCounts received_;                                              // receives that have begun, since then
  std::unordered_map<MessageFlow, std::int32_t, HashOfFlow> peers_;  // of flows from before the restart
  std::uint64_t receives_ = 0;                                       // that can have a wildcard or be cancelled

  // For the time after a restart, until all is done again.
  FlowCounts early_;               // numbers up to which messages are not sent again
  std::uint64_t open_early_ = 0;   // messages of these
  std::vector<LateMessage> late_;  // that no receive has got
  LateMessage taken_;              // the latest one that has been got
  ForcedOutcomes forced_;

  // For the line under way.
  std::unique_ptr<LineRecord> line_;
#ifdef NDEBUG
  std::atomic<bool> notes_ends_{false};
#else
  std::atomic<bool> notes_ends_{true};  // each receive is checked
#endif
  FlowCounts told_;              // messages that were sent before the line, by flow
  std::uint64_t open_late_ = 0;  // late messages that have not come
  std::size_t log_bytes_ = 0;    // of late messages
  /// Numbers of messages that have come since the line, where the log had no room for them.
  std::unordered_map<MessageFlow, IntervalSet, HashOfFlow> without_room_;
  std::optional<Error> broken_;  // why this rank takes no more checkpoints
};

}  // namespace fenix_impl
