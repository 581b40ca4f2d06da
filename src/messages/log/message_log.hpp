// SPDX-License-Identifier: BSD-3-Clause
// The messages of a program that goes on after a failure without going back: each one is logged by its sender, and numbered by its sender
// and its receiver. After a repair, receivers read from the logs what they have not got. Senders that do again what a dead rank had done skip
// messages that are in the log or have been received.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/interval_set.hpp"
#include "base/recent_map.hpp"
#include "interposition/message_counters.hpp"
#include "messages/journal/journal.hpp"
#include "messages/journal/log_spill.hpp"
#include "messages/journal/spill_reader.hpp"
#include "messages/log/determinant_log.hpp"
#include "messages/log/spills_of_others.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// The journals of a log.
struct LogJournals {
  /// One journal for all.
  LogJournals(Journal& journal) : held(journal), messages(journal) {}  // NOLINT(google-explicit-constructor)
  LogJournals(Journal& held_elsewhere, Journal& of_messages) : held(held_elsewhere), messages(of_messages) {}

  [[nodiscard]] bool are_one() const { return &held == &messages; }

  Journal& held;      ///< with copies on other ranks, for what a dead rank cannot make again
  Journal& messages;  ///< perhaps without copies
};

/// A process sends something else than was sent before it in its place.
class AnotherHistory : public Error {
 public:
  explicit AnotherHistory(const std::string& what) : Error(FENIX_ERROR_INVALID_LOGIC_CALL, what) {}
};

class MessageLog {
 public:
  /// Messages between this rank and another one, on one communicator and with one tag.
  struct Flow {
    std::uint64_t channel = 0;  ///< of the communicator
    std::int32_t peer = 0;      ///< slot of the other rank
    std::int32_t tag = 0;

    auto operator<=>(const Flow&) const = default;
  };
  struct HashOfFlow {
    std::size_t operator()(const Flow& flow) const { return HashOfSignature()(signature_of(flow)); }
  };
  template <class Value>
  using ByFlow = RecentMap<Flow, Value, HashOfFlow>;

  [[nodiscard]] bool is_active() const { return active_; }
  void activate() { active_ = true; }
  void clear() {
    forbid_quick_messages();
    *this = {};
  }

  /// Has the log go on in files where memory ends. Local, with the journals attached; more calls have no effect.
  void spill_to(const SpillOptions& options, const LogJournals& journals);
  /// Has the journal tell where the files are, so that there is room for that also when it is full. Local. Throws as Journal::append does.
  void note_place(const LogJournals& journals);
  /// Learns how many messages each rank had logged and received when the failure was repaired. goes_back: survivors will receive messages
  /// once more. Returns false if this rank cannot read files that have what it needs. Collective, with the journals attached. Throws as
  /// Team does.
  bool take_up(Team& team, const LogJournals& journals, bool goes_back);
  /// Lets go of all messages and decisions: all ranks go back to a state that they have stored. Local. Throws as Journal::append does.
  void let_go(const LogJournals& journals);
  /// Whether messages are missing in the log, as there was no room. Then no rank can go back alone.
  [[nodiscard]] bool lacks_messages() const { return lacks_messages_; }
  /// Whether messages or decisions are missing, as there was no room, that a rank may need which goes back alone.
  [[nodiscard]] bool lacks_some() const { return lacks_messages_ || decisions_.lacks_some(); }
  /// Whether this new process cannot be what its predecessor was, as decisions are missing. Local. Throws PeerFailure, Error.
  [[nodiscard]] bool lacks_decisions_of_predecessor(const LogJournals& journals) const {
    return decisions_.lacks_those_of_predecessor(journals.held, begin_of_decisions(journals));
  }
  /// Notes that all ranks have stored their states: older messages are not needed any more. is_on_all: otherwise it counts from the next
  /// meeting on. Local.
  void note_checkpoint(bool is_on_all);

  /// Whether the predecessor of this process has sent or decided something that is still ahead. Local.
  [[nodiscard]] bool predecessor_went_on() const;
  /// Whether logs have messages for this process that no receive has got. Local.
  [[nodiscard]] bool has_unreceived() const;

  /// Outcomes on which messages may depend. They are written to the journal before the next message is logged, or numbers are stored.
  [[nodiscard]] DecisionLog& decisions() { return decisions_; }
  [[nodiscard]] const DecisionLog& decisions() const { return decisions_; }
  /// Writes them now: something else that others can see is about to be stored. Local. Throws as Journal::append does.
  void write_decisions(const LogJournals& journals);

  /// The answer to a message that is sent once more, and is not the one in the log.
  enum class Comparing {
    off,     ///< it is not looked at
    on,      ///< a warning, once; another length ends the job
    strict,  ///< ends the job
  };
  /// Local.
  void compare_repeated(Comparing comparing) { comparing_ = comparing; }
  /// Whether a sender waits.
  enum class Sending {
    usual,
    synchronous,  ///< for its receive to begin: a receiver that takes the message from the log says so, by note_taken
  };
  /// Logs the next message of a flow. Returns its bytes, valid until the next call; nothing if it must not be sent, as its receiver has it, or gets
  /// it from the log. Local. Throws as Journal::append does, and AnotherHistory.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_send(const LogJournals& journals, const Flow& flow,
                                                                   const Payload& payload,
                                                                   Sending sending = Sending::usual);
  /// Returns the number of the latest message that this rank has sent, or 0. Local.
  [[nodiscard]] std::uint64_t latest_sent(const Flow& flow) const;
  /// Tells the sender of a synchronous message that was taken from its log. Local. Throws as Journal::append does.
  void note_taken(const LogJournals& journals, const Flow& flow, const EntryHead& taken);
  /// Whether the receive of a message had begun when the latest failure was repaired, or its receiver has noted since that it was taken from the
  /// log. Local, reads the memory of another rank. Throws PeerFailure.
  [[nodiscard]] bool was_taken(const LogJournals& journals, const Flow& flow, std::uint64_t number) const;
  /// Does the same for a flow whose messages allow_send has allowed. Returns nothing if log_send has to do it: for want of room or memory, after a
  /// failure, or for outcomes that come first. Local.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_quickly(const LogJournals& journals,
                                                                      const QuickSend& flow, const Payload& payload);
  /// Returns whether the next message of a flow has to be sent when it is logged.
  [[nodiscard]] bool is_to_be_sent(const Flow& flow) const;
  /// Say what libfenix_mpi may do by itself with messages of a flow: nothing if the next one is in a log, or has been received. Local.
  [[nodiscard]] QuickSend allow_send(const Flow& flow);
  [[nodiscard]] QuickReceive allow_receive(const Flow& flow);
  /// A receive that has begun.
  struct Begun {
    std::uint64_t number = 0;  ///< of its message
    bool is_logged = false;    ///< it has to be read from the log of its sender
  };
  /// Returns the message that a receive gets. Receives of a flow get their messages in the order of these calls.
  [[nodiscard]] Begun begin_receive(const Flow& flow);
  /// Notes that a receive has its message. Local.
  void end_receive(const Flow& flow, std::uint64_t number);
  /// Takes back the latest number of a flow: the call is cancelled, or will be made again. Local.
  void take_back(const Flow& flow, bool is_sent);
  /// A message in a journal of its sender.
  struct Logged {
    Entry entry;
    const Journal* journal = nullptr;          ///< where it is, or
    std::shared_ptr<const SpillReader> spill;  ///< in which files
    std::uint32_t file = 0;                    ///< of those

    /// Returns false if it has been replaced meanwhile, or is damaged in all places. slot: of its sender. Local. Throws PeerFailure.
    [[nodiscard]] bool read(int slot, std::span<std::byte> to) const;
  };

  /// Returns the message of a flow with this number if it has to be read from the log of its sender. anew: not where it was before, as
  /// its sender may have moved it. Local, throws PeerFailure.
  [[nodiscard]] std::optional<Logged> logged(const LogJournals& journals, const Flow& flow, std::uint64_t number,
                                             bool anew);

  /// Returns the oldest message that has to be read from a log, and that no receive has got. peer, tag: nothing for any one; messages of the
  /// library itself are no answer then. Of several peers, the first one that has a message. Local, throws PeerFailure.
  [[nodiscard]] std::optional<std::pair<Flow, Logged>> find_unreceived(const LogJournals& journals,
                                                                       std::uint64_t channel, std::optional<int> peer,
                                                                       std::optional<int> tag);

  /// Appends to the journal that is held. Lets go of what is logged if there is no room otherwise. Local. Throws as Journal::append does.
  void append(const LogJournals& journals, const Signature& signature, std::uint32_t depth, const Payload& payload,
              std::optional<std::uint64_t> number = std::nullopt);

  /// Learns which messages the other ranks have received. Collective: all are about to store their states. Throws as Team does.
  void meet_at_checkpoint(Team& team, const LogJournals& journals);
  /// A message that this rank has sent, and that has not been received, as far as it is known. A state is stored with such messages: nobody
  /// else has them if this rank dies, and its successor does not come to send them.
  struct Late {
    Flow flow;
    std::uint64_t number = 0;
    std::vector<std::byte> content;
  };
  /// Returns those of a channel, if no other rank has a copy of the log. Local. Throws Error(FENIX_ERROR_NO_MEMORY) if one is not in the log
  /// any more.
  [[nodiscard]] std::vector<Late> late_messages(const LogJournals& journals, std::uint64_t channel) const;
  /// Logs a late message that was restored with a state. Returns whether it has to be sent. Local. Throws as Journal::append does.
  [[nodiscard]] bool log_late(const LogJournals& journals, const Late& message);

  /// A flow's number of messages.
  struct Number {
    Flow flow;
    std::uint64_t is_sent = 0;  ///< else received
    std::uint64_t number = 0;

    bool operator==(const Number&) const = default;
  };

  /// Returns the numbers of the messages of a channel, sent and received, and the place in the stream of decisions. Local.
  [[nodiscard]] std::vector<Number> numbers_of(const LogJournals& journals, std::uint64_t channel) const;
  /// Goes back, or on, to such numbers. Local.
  void set_numbers_of(std::uint64_t channel, std::span<const Number> numbers);
  /// Lets go of logged messages and decisions up to such numbers. only_received: of messages that had been received at the latest
  /// meeting. Local.
  void release_until(const LogJournals& journals, std::span<const Number> numbers, bool only_received);

  /// Stores the numbers that there are, for a message to oneself that is about to be stored. Local. Throws as Journal::append does.
  void store_numbers(const LogJournals& journals, const Signature& signature, std::uint32_t depth);
  /// Notes that the message is stored: what the log lacks may not be needed any more. Local. Throws PeerFailure.
  void note_stored(const LogJournals& journals);
  /// Goes back to the numbers that were stored with a message of the dead rank whose place this one has. Local.
  void take_numbers(const LogJournals& journals, int own_slot, const Entry& message);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kLeastFlows = 4096;

  [[nodiscard]] static Signature signature_of(const Flow& flow) { return {flow.channel, flow.peer, flow.tag}; }
  [[nodiscard]] static Signature signature_of_numbers(const Signature& signature);
  /// Returns nothing if they have been replaced meanwhile, or are damaged in all places.
  [[nodiscard]] static std::optional<std::vector<Number>> read_numbers(const Journal& journal, int slot,
                                                                       const Entry& entry);
  /// Returns the place in the stream of decisions as numbers.
  [[nodiscard]] std::vector<Number> position_numbers(const Journal& journal) const;
  /// Notes such a number in a place. Returns false if it is another one.
  static bool take_position(const Number& number, DecisionLog::Position& position);
  [[nodiscard]] static Flow flow_of(const Signature& signature) {
    return {signature.channel, signature.destination, signature.tag};
  }
  using TryToAppend = std::function<bool()>;
  /// Appends to a journal. Older entries of the log make room. Returns false if there is none, not even when all of that has gone.
  bool put(Journal& journal, const LogJournals& journals, const Signature& signature, std::uint32_t depth,
           const Payload& payload, std::uint64_t number);
  bool wait_for_room(const LogJournals& journals, const TryToAppend& append);
  /// Lets go of the oldest messages and decisions in a journal. Returns false if there are none.
  bool let_go_of_oldest(Journal& journal, const LogJournals& journals);
  void note_missing(const Flow& flow, std::uint64_t number);
  void say_that_it_lacks_some();
  struct Numbered;
  /// Messages that other ranks have received from this one.
  struct Received {
    std::map<Flow, std::uint64_t> numbers;         ///< of receives that have begun
    std::map<Flow, std::set<std::uint64_t>> open;  ///< those of them that have no message yet

    [[nodiscard]] bool has(const Flow& flow, std::uint64_t number) const;
    /// Returns the number up to which it has all.
    [[nodiscard]] std::uint64_t all_until(const Flow& flow) const;
  };
  void find_own_logged(const LogJournals& journals);
  void add_received(int own_slot, std::vector<Numbered>& to) const;
  void forget_open();
  void add_open(int own_slot, std::vector<Numbered>& to) const;
  /// Tells each rank what is about its messages. Returns what others say of those of this one.
  [[nodiscard]] static std::vector<Numbered> exchange(Team& team, int own_slot, const std::vector<Numbered>& mine);
  [[nodiscard]] static Received received_of(const std::vector<Numbered>& told);
  void release(const LogJournals& journals, const Signature& signature, std::uint64_t number, bool keeps_newest);
  void release_decisions(const LogJournals& journals, const DecisionLog::Position& position);
  void forget_quiet_flows();
  /// Lets go of what no receiver needs that goes back to its oldest state. Returns whether another rank has stored a state.
  bool release_what_is_stable(const LogJournals& journals);
  /// Does the same now and then; otherwise returns nothing.
  std::optional<bool> look_for_states(const LogJournals& journals, Clock::time_point& next_look);
  /// Returns the place in the stream of decisions of the oldest state of this rank.
  [[nodiscard]] DecisionLog::Position begin_of_decisions(const LogJournals& journals) const;
  /// Returns numbers with which a rank's oldest state was stored, of those that are wanted: the least, if there are several such states.
  template <class Wanted>
  [[nodiscard]] static std::map<Flow, std::uint64_t> stable_numbers(const Journal& journal, int owner,
                                                                    const Wanted& wanted);

  [[nodiscard]] bool is_in_log(const Flow& flow, std::uint64_t number) const;
  void compare_with_log(const LogJournals& journals, const Signature& signature, std::uint64_t number,
                        const Payload& payload);
  /// Returns the head of a message of this rank or its predecessor, in the memory or the files; nothing if it is in neither.
  [[nodiscard]] std::optional<EntryHead> own_logged(const LogJournals& journals, const Signature& signature,
                                                    std::uint64_t number);
  [[nodiscard]] std::span<const std::byte> log_message(const LogJournals& journals, const Signature& signature,
                                                       std::uint64_t number, const Payload& payload, Sending sending);
  /// Returns the depth of a message that is logged now.
  [[nodiscard]] std::uint32_t next_depth(Sending sending);
  /// Forgets which synchronous messages were taken: all ranks go back. Local. Throws as Journal::append does.
  static void forget_taken(const LogJournals& journals);

  [[nodiscard]] static Signature signature_of_place(const Journal& journal);
  /// Returns the files of the predecessor of a new process, if it cannot go on with them.
  [[nodiscard]] std::optional<SpillPlace> take_over_spill(const LogJournals& journals);
  [[nodiscard]] bool meet_about_spills(Team& team, const LogJournals& journals);
  [[nodiscard]] std::vector<DecisionLog::Older> spilled_decisions(const Journal& journal) const;
  [[nodiscard]] std::set<int> senders_of_spilled() const;
  void give_logged(const LogJournals& journals, int reader, const SpillsOfOthers::Take& take) const;
  /// Not while something is missing: what comes after it is of no use.
  [[nodiscard]] bool can_spill() const { return spill_ && !lacks_messages_ && !decisions_.lacks_some(); }
  /// Moves the oldest part of a journal to the files. Returns false if that cannot be.
  [[nodiscard]] bool spill(const LogJournals& journals, Journal& from);
  [[nodiscard]] bool has_noted_place(const LogJournals& journals);
  void give_up_files(const LogJournals& journals);

  bool active_ = false;
  Comparing comparing_ = Comparing::on;
  bool has_told_difference_ = false;
  bool lacks_messages_ = false;
  bool lacks_newer_ones_ = false;         // sent since the latest meeting
  bool has_warned_ = false;               // that it lacks some
  bool waits_in_vain_ = false;            // for states that make room
  Clock::time_point next_look_for_room_;  // at such states: not before
  Clock::time_point next_look_when_stored_;
  bool is_stored_ = false;                 // the state with which ranks met
  std::map<Flow, std::uint64_t> missing_;  // greatest number that is not in the log
  std::uint32_t next_order_ = 0;           // of logged messages
  std::uint64_t numbers_from_ = 0;         // message from which the numbers were taken
  std::vector<std::byte> unlogged_;        // latest message with gaps for which the log had no room
  ByFlow<std::uint64_t> sent_;             // messages of this rank, skipped ones included
  ByFlow<std::uint64_t> received_;         // receives that have begun
  ByFlow<OpenNumbers> open_;               // those of them that have no message yet
  ByFlow<std::uint64_t> waited_for_;       // one more of them: that for which the program waits, or 0
  std::size_t most_flows_ = kLeastFlows;   // with entries in these two
  ByFlow<IntervalSet> logged_;             // by this rank or its predecessor, when the latest failure was repaired
  std::map<Flow, IntervalSet> logged_by_others_;  // when the latest failure was repaired, for this rank
  Received received_by_others_;                   // of messages of this rank, when the latest failure was repaired
  std::set<int> peers_at_work_;      // slots of ranks that had sent or received something when this process began
  Received received_at_checkpoint_;  // of messages of this rank, at the latest meeting
  std::map<Flow, std::vector<Logged>> found_;  // in logs of others
  DecisionLog decisions_;
  std::unique_ptr<LogSpill> spill_;         // none: the log has only its memory
  SpillPlace noted_place_;                  // of the files, as it is in the journal
  std::unique_ptr<SpillReader> own_files_;  // for messages that are sent once more
  SpillPlace own_files_place_;              // of them, when they were looked at
  SpillsOfOthers spills_of_others_;
};

}  // namespace fenix_impl
