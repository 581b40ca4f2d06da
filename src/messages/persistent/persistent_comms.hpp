// SPDX-License-Identifier: BSD-3-Clause
// Persistent communicators of this process, and the journal with what it has stored through them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "interposition/partner.hpp"
#include "messages/journal/journal.hpp"
#include "messages/log/message_log.hpp"
#include "messages/persistent/persist_file.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"

namespace fenix_impl {

/// The keys of the info of MPI_Comm_persist.
struct PersistOptions {
  static constexpr std::uint64_t kDefaultVolume = std::uint64_t{64} << 20;
  static constexpr std::uint32_t kMostDepth = 1U << 20U;

  std::uint64_t volume = kDefaultVolume;  ///< bytes of messages of this rank that are kept at once
  std::int32_t copies = 1;                ///< on other ranks
  std::uint32_t depth = 1;                ///< messages of a signature that are kept
  bool newest_first = false;              ///< order in which they are received, if there are several
  bool waits = true;                      ///< a receive waits if nothing has been stored
  bool delivers = false;                  ///< messages are delivered as well
  std::string folder;                     ///< for files, from which a later job goes on; none if empty
};

/// How messages are logged.
struct LogOptions {
  PersistOptions held;                  ///< of what other ranks hold
  std::optional<std::uint64_t> memory;  ///< bytes of logged messages of this rank, apart from the others
  std::optional<std::int32_t>
      copies{};  ///< of logged messages on other ranks; without a number they are held as all others
  SenderLog::Comparing comparing =
      SenderLog::Comparing::on;  ///< of messages that are sent once more with those in the log

  /// Whether logged messages have a journal of their own.
  [[nodiscard]] bool are_apart() const { return memory || copies.value_or(held.copies) != held.copies; }
};

/// A message that matches a receive, and where it is.
struct StoredMessage : LoggedMessage {
  int source = 0;       ///< rank in the communicator
  int source_slot = 0;  ///< of that rank
};

class Persistence {
 public:
  /// Both must outlive it.
  Persistence(Process& process, TeamFactory& teams) : process_(process), teams_(teams) {}

  // ---------------------------------------------------------------------------------------------------------------- repairs

  /// Says whether several threads of the program may call at once. At the start. Local.
  void expect_threads(bool are_many) { has_threads_ = are_many; }
  /// Says where the log of messages goes on when its memory is full. At the start. Local.
  void spill_to(const SpillOptions& options) { spill_ = options; }
  /// Whether this process has a journal, or gets one in the next repair. Local.
  [[nodiscard]] bool in_use() const { return journal_ != nullptr || awaited_; }
  /// Notes that this process has taken the place of a dead one. Local.
  void note_replacement() { has_failed_ = true; }
  /// Lets go of the team, as a repair has begun. starts_over: survivors will call MPI_Comm_persist again. Local.
  void detach(bool starts_over);
  /// Notes whether survivors will call MPI_Comm_persist again. Local.
  void note_start_over(bool starts_over);
  /// Takes the journals up again, or gives new processes theirs. falls_back: all ranks go back to a state that they have stored; fall_back is
  /// called on all if this turns out now, with the reason. Collective over the active ranks, if one of them has a journal. Throws as Team does.
  void take_up(bool falls_back, const std::function<void(const char* why)>& fall_back);
  /// Whether the log lacks messages, as there was no room. Local.
  [[nodiscard]] bool lacks_messages() const { return log_.gaps().lack_messages(); }
  /// Ends the use. Local.
  void clear();

  // ---------------------------------------------------------------------------------------------------------- communicators

  /// Makes a communicator persistent. name: handle of the program; ranks: its ranks, in the resilient communicator. The first call is
  /// collective over the resilient communicator, if there has been no repair since; other calls are local.
  void open(MPI_Comm name, MPI_Comm now, const std::string& key, const PersistOptions& options);
  /// Forgets a communicator. Its messages stay. Local.
  void close(MPI_Comm name);
  /// Whether this process has taken the place of a dead one, or goes on from files, and has stored nothing yet. Local.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  // ------------------------------------------------------------------------------------------- messages that are logged

  /// Has messages on ordinary communicators logged from now on. Collective over the resilient communicator; replacements call it before
  /// anything else, and meet nobody.
  void log_messages(const LogOptions& options);
  /// Has them logged from the next repair on, which makes the journals: a rank has died. Until then calls that need them throw PeerFailure. Local.
  void log_messages_after_repair(const LogOptions& options);
  /// Returns the flow of messages with a partner. now: what the name of the communicator stands for. Local.
  [[nodiscard]] Flow flow_of(const Partner& partner, MPI_Comm now);
  /// Returns the flow if it was looked up of late: then messages can be logged, and the rank and the tag are right. Local.
  [[nodiscard]] std::optional<Flow> known_flow_of(const Partner& partner);
  /// Say what libfenix_mpi may do by itself with messages of a partner. Local.
  [[nodiscard]] QuickSend allow_send(const Partner& to);
  [[nodiscard]] QuickReceive allow_receive(const Partner& from);
  /// Logs a message before it is sent. Returns its bytes, valid until the next call; none if it must not be sent, because its receiver gets
  /// it from the log. Local.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_send(const Flow& flow, const Payload& payload,
                                                                   SenderLog::Sending sending);
  /// See MessageLog. Local.
  [[nodiscard]] std::uint64_t latest_sent(const Flow& flow);
  void note_taken(const Flow& flow, const StoredMessage& message);
  [[nodiscard]] bool was_taken(const Flow& flow, std::uint64_t number);
  /// Does the same for a partner whose messages allow_send has allowed. Returns nothing if log_send has to do it. Local.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_quickly(const QuickSend& partner,
                                                                      const Payload& payload) {
    return log_.sender().log_quickly(journals(), partner, payload);
  }
  /// Returns whether the next message has to be sent when it is logged. Stores the outcomes on which it may depend. Local.
  [[nodiscard]] bool prepare_send(const Flow& flow);
  /// Returns the same if there are no outcomes to be stored; otherwise nothing. Local.
  [[nodiscard]] std::optional<bool> is_to_be_sent(const Flow& flow);
  /// Returns the number of the message that a receive gets, and whether it has to be taken from a log. Local.
  [[nodiscard]] Replay::Begun begin_receive(const Flow& flow);
  /// Notes that a receive has its message. Local.
  void end_receive(const Flow& flow, std::uint64_t number);
  /// Takes back the latest number of a message that was sent or received: the call is cancelled, or will be made again. Local.
  void take_back(bool is_sent, const Flow& flow);
  /// Returns the oldest message that has to be taken from a log, and that no receive has got. source may be MPI_ANY_SOURCE, tag may be
  /// MPI_ANY_TAG. Local.
  [[nodiscard]] std::optional<StoredMessage> find_unreceived(MPI_Comm name, MPI_Comm now, std::uint64_t channel,
                                                             int source, int tag);
  /// Calls work with the outcomes of calls that are logged, while nobody else uses them.
  template <class Work>
  auto with_decisions(const Work& work) {
    const auto turn = take_turn();
    require_journal();
    write_many_decisions();
    return work(log_.decisions());
  }
  /// Returns the message with this number if it has to be taken from the log of its sender. Its rank is the slot. anew: its sender may have moved
  /// it since the last call. Local.
  [[nodiscard]] std::optional<StoredMessage> logged(const Flow& flow, std::uint64_t number, bool anew);

  /// Say at the end whether this process has done less than its predecessor: that one had sent or decided more, or was sent more. Local.
  [[nodiscard]] bool predecessor_went_on();
  [[nodiscard]] bool has_unreceived();

  // ------------------------------------------------------------------------------------ regions of messages that are logged

  /// Returns the numbers of the messages of a channel. Local.
  [[nodiscard]] std::vector<FlowNumber> message_numbers(std::uint64_t channel);
  /// Goes on with other numbers. Local.
  void set_message_numbers(std::uint64_t channel, std::span<const FlowNumber> numbers);
  /// Lets go of the messages of this rank up to such numbers. only_received: of those that had been received at the latest checkpoint. Local.
  void release_messages(std::span<const FlowNumber> numbers, bool only_received);
  /// Learns which messages have been received. Collective over the resilient communicator: all ranks are about to store their states.
  /// Throws as Team does.
  void meet_at_checkpoint();
  /// Notes that this rank has stored its state with the others. is_on_all: all have. Local.
  void note_checkpoint(bool is_on_all);
  /// Returns whether the log has little room left, or lacks messages. Local.
  [[nodiscard]] bool log_is_filling();
  /// Returns the messages of a channel with which a state of this rank has to be stored. Local.
  [[nodiscard]] std::vector<SenderLog::Late> late_messages(std::uint64_t channel);
  /// Logs a message that was restored with a state. Returns the rank to which it has to be sent, if it has to. Local.
  [[nodiscard]] std::optional<int> log_late(MPI_Comm name, MPI_Comm now, const SenderLog::Late& message);
  /// Whether no other rank has copies of logged messages. Local.
  [[nodiscard]] bool has_messages_alone() const {
    return message_journal_ && message_journal_->parameters().copies == 0;
  }
  /// Stores a mark for this rank or its successor; so many are kept. Local.
  void store_mark(std::uint64_t channel, std::uint32_t kept, std::span<const std::byte> mark);
  /// Returns the marks of this rank and its predecessors, oldest first. Local.
  [[nodiscard]] std::vector<std::vector<std::byte>> marks(std::uint64_t channel);

  // --------------------------------------------------------------------------------------------------------------- messages

  /// The destination of contributions to collective operations.
  static constexpr int kEveryRank = -1;

  /// Stores a message for a rank of the communicator, or for every rank. Tags of messages that the program sends are not negative. Local.
  void store(MPI_Comm name, MPI_Comm now, int destination, int tag, const Payload& payload);
  /// Notes that this rank has taken part in a collective operation in which it gives nothing. Otherwise a later job that goes on from
  /// files would not know it. Local.
  void note_taker(MPI_Comm name, MPI_Comm now);
  /// Returns the message that a receive gets. source may be MPI_ANY_SOURCE, tag may be MPI_ANY_TAG. Local.
  [[nodiscard]] std::optional<StoredMessage> find(MPI_Comm name, MPI_Comm now, int source, int tag);
  /// Returns the message that a receive of another rank would get, or of every rank. tag may be negative. Local.
  [[nodiscard]] std::optional<StoredMessage> find_for(MPI_Comm name, MPI_Comm now, int source, int destination,
                                                      int tag);
  /// Returns the slot of a rank of the communicator. Local.
  [[nodiscard]] int slot(MPI_Comm name, MPI_Comm now, int rank);
  /// Whether a message cannot be replaced while it is read: this process has stored it, and only one thread calls at a time. Local.
  [[nodiscard]] bool stays(const StoredMessage& message);
  /// Reads a message. Returns false if it has been replaced meanwhile, or is damaged in all places. Local.
  [[nodiscard]] bool read(const StoredMessage& message, std::span<std::byte> to);
  /// Notes that a message has been received: with a depth, the next receive gets another one. Local.
  void note_received(MPI_Comm name, const StoredMessage& message);
  /// Returns whether a receive waits for what has not been stored yet. Local.
  [[nodiscard]] bool waits(MPI_Comm name);

 private:
  struct Communicator {
    std::string key;
    unsigned order = 0;  ///< among those with the same key and ranks
    std::uint64_t channel = 0;
    PersistOptions options;
    std::vector<int> slots;  ///< by rank
    int own_slot = 0;
    int repairs = 0;       ///< when slots were looked up
    bool is_past = false;  ///< the program will make it again
    std::optional<PersistFile> file;
    bool has_entries = false;           ///< the file has something of this rank
    std::size_t bytes_of_messages = 0;  ///< of the file when it was made new
    std::map<std::pair<int, int>, std::uint64_t>
        received;  ///< number of the latest message, by slot of the source and tag
  };

  [[nodiscard]] Communicator& at(MPI_Comm name, MPI_Comm now);
  /// Returns a lock that every public function holds while it works, where the program may make several calls at a time.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn() {
    return has_threads_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }
  [[nodiscard]] Flow look_up_flow(const Partner& partner, MPI_Comm now);
  void write_many_decisions();
  void look_up_ranks(Communicator& comm, MPI_Comm now) const;
  void form_journal(const PersistOptions& options);
  void open_file(Communicator& comm);
  void append(Communicator& comm, const Signature& signature, const Payload& payload);
  void replace_file(Communicator& comm);
  void file_latest(Communicator& comm);
  [[nodiscard]] int own_slot(const Team& team) const;
  void form_message_journal(const LogOptions& options);
  void take_up_one(const TeamFactory::NewTeam& made, std::unique_ptr<Journal>& journal,
                   const JournalParameters& awaited);
  void begin_logging(const LogOptions& options);
  void attach(Journal& journal, const TeamFactory::NewTeam& made);
  [[nodiscard]] LogJournals journals() {
    return message_journal_ ? LogJournals{*journal_, *message_journal_} : *journal_;
  }
  void require_journal() const;
  [[nodiscard]] std::optional<Entry> next_of(const Communicator& comm, int slot, int destination, int tag) const;
  [[nodiscard]] static int slot_in(const Communicator& comm, int rank);

  Process& process_;
  TeamFactory& teams_;
  bool has_threads_ = true;  // several of the program may call at once
  std::mutex mutex_;         // one message at a time
  std::map<MPI_Comm, Communicator> comms_;
  std::map<MPI_Comm, Communicator> logged_comms_;  // ordinary ones
  RecentPartners<Flow> known_flows_;
  SpillOptions spill_;
  MessageLog log_;
  TeamFactory::NewTeam team_;  ///< of the journals that are attached, which refer to it
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Journal> message_journal_;  // logged messages, if they have one of their own
  std::optional<LogOptions> awaited_;         // for journals that the next repair makes
  int awaited_since_ = 0;                     // so many repairs there had been
  bool has_failed_ = false;
  bool starts_over_ = false;  // survivors, after the repair that is under way
};

}  // namespace fenix_impl
