// SPDX-License-Identifier: BSD-3-Clause
// The messages of a program that goes on after a failure without going back: each one is logged in the journal before it is sent, and
// numbered by its sender and its receiver. After a repair, receivers read from the logs what they have not got, and senders that do
// again what a dead rank had done skip the messages that are in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/journal/journal.hpp"
#include "recovery/decision_log.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class MessageLog {
 public:
  /// Messages between this rank and another one, on one communicator and with one tag.
  struct Flow {
    std::uint64_t channel = 0;  ///< of the communicator
    std::int32_t peer = 0;      ///< slot of the other rank
    std::int32_t tag = 0;

    auto operator<=>(const Flow&) const = default;
  };

  [[nodiscard]] bool is_active() const { return active_; }
  void activate() { active_ = true; }
  void clear() { *this = {}; }

  /// Learns how many messages each rank had logged and received when the failure was repaired. goes_back: survivors will receive messages
  /// once more. Collective, with the journal attached. Throws as Team does.
  void take_up(Team& team, const Journal& journal, bool goes_back);

  /// Outcomes on which messages may depend. They are written to the journal before the next message is logged, or numbers are stored.
  [[nodiscard]] DecisionLog& decisions() { return decisions_; }
  /// Writes them now: something else that others can see is about to be stored. Local. Throws as Journal::append does.
  void write_decisions(Journal& journal);

  /// Logs the next message of a flow. Returns false if the log has it: then it must not be sent. Local. Throws as Journal::append does.
  [[nodiscard]] bool log_send(Journal& journal, const Flow& flow, const Payload& payload);
  /// Returns the number of the message that a receive gets. Receives of a flow get their messages in the order of these calls.
  [[nodiscard]] std::uint64_t begin_receive(const Flow& flow);
  /// Notes that a receive has its message. Local.
  void end_receive(const Flow& flow, std::uint64_t number);
  /// Takes back the latest number of a flow: the call is cancelled, or will be made again. Local.
  void take_back(const Flow& flow, bool is_sent);
  /// Returns the message of a flow with this number if it has to be read from the log of its sender. anew: not where it was before, as
  /// its sender may have moved it. Local, throws PeerFailure.
  [[nodiscard]] std::optional<Entry> logged(const Journal& journal, const Flow& flow, std::uint64_t number, bool anew);

  /// Returns the oldest message that has to be read from a log, and that no receive has got. peer, tag: nothing for any one; messages of the
  /// library itself are no answer then. Of several peers, the first one that has a message. Local, throws PeerFailure.
  [[nodiscard]] std::optional<std::pair<Flow, Entry>> find_unreceived(const Journal& journal, std::uint64_t channel,
                                                                      std::optional<int> peer, std::optional<int> tag);

  /// Appends to the journal. Lets go of logged messages if there is no room otherwise. Local. Throws as Journal::append does.
  void append(Journal& journal, const Signature& signature, std::uint32_t depth, const Payload& payload,
              std::optional<std::uint64_t> number = std::nullopt);

  /// A flow's number of messages.
  struct Number {
    Flow flow;
    std::uint64_t is_sent = 0;  ///< else received
    std::uint64_t number = 0;

    bool operator==(const Number&) const = default;
  };

  /// Returns the numbers of the messages of a channel, sent and received, and the place in the stream of decisions. Local.
  [[nodiscard]] std::vector<Number> numbers_of(const Journal& journal, std::uint64_t channel) const;
  /// Goes back, or on, to such numbers. Local.
  void set_numbers_of(std::uint64_t channel, std::span<const Number> numbers);
  /// Lets go of logged messages and decisions up to such numbers. Local.
  void release_until(Journal& journal, std::span<const Number> numbers);

  /// Stores the numbers that there are, for a message to oneself that is about to be stored. Local. Throws as Journal::append does.
  void store_numbers(Journal& journal, const Signature& signature, std::uint32_t depth);
  /// Goes back to the numbers that were stored with a message of the dead rank whose place this one has. Local.
  void take_numbers(const Journal& journal, int own_slot, const Entry& message);

 private:
  [[nodiscard]] static Signature signature_of(const Flow& flow) { return {flow.channel, flow.peer, flow.tag}; }
  [[nodiscard]] static Signature signature_of_numbers(const Signature& signature);
  /// Returns nothing if they have been replaced meanwhile, or are damaged in all places.
  [[nodiscard]] static std::optional<std::vector<Number>> read_numbers(const Journal& journal, int slot,
                                                                       const Entry& entry);
  /// Returns the place in the stream of decisions as numbers.
  [[nodiscard]] std::vector<Number> position_numbers(const Journal& journal) const;
  /// Notes such a number in a place. Returns false if it is another one.
  static bool take_position(const Number& number, DecisionLog::Position& position);
  void release_what_is_stable(Journal& journal);
  [[nodiscard]] std::map<Flow, std::uint64_t> stable_numbers(const Journal& journal, int receiver) const;

  bool active_ = false;
  std::uint32_t next_order_ = 0;                  // of logged messages
  std::uint64_t numbers_from_ = 0;                // message from which the numbers were taken
  std::map<Flow, std::uint64_t> sent_;            // messages of this rank, skipped ones included
  std::map<Flow, std::uint64_t> received_;        // receives that have begun
  std::map<Flow, std::set<std::uint64_t>> open_;  // those of them that have no message yet
  std::map<Flow, std::uint64_t> logged_;  // by this rank or its predecessor, when the latest failure was repaired
  std::map<Flow, std::uint64_t> logged_by_others_;  // when the latest failure was repaired, for this rank
  std::map<Flow, std::uint64_t>
      received_by_others_;  // of messages of this rank, when the latest failure was repaired; also of those that are open
  std::map<Flow, std::set<std::uint64_t>> open_at_others_;
  std::map<Flow, std::vector<Entry>> found_;  // entries in logs of others
  DecisionLog decisions_;
};

}  // namespace fenix_impl
