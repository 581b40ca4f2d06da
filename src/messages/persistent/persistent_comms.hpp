// SPDX-License-Identifier: BSD-3-Clause
// Persistent communicators of this process: what is sent on them is stored in the journal.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "messages/log/message_log.hpp"
#include "messages/persistent/comm_file.hpp"
#include "messages/persistent/comm_slots.hpp"
#include "messages/persistent/persist_options.hpp"
#include "messages/persistent/rank_journals.hpp"
#include "messages/persistent/stored_message.hpp"
#include "messages/persistent/turns.hpp"

namespace fenix_impl {

class PersistentComms {
 public:
  /// The destination of contributions to collective operations.
  static constexpr int kEveryRank = -1;

  /// All must outlive it.
  PersistentComms(const Process& process, Turns& turns, RankJournals& journals, MessageLog& log)
      : process_(process), turns_(turns), journals_(journals), log_(log) {}

  /// Makes a communicator persistent. name: handle of the program; ranks: its ranks, in the resilient communicator. The first call is
  /// collective over the resilient communicator, if there has been no repair since; other calls are local.
  void open(MPI_Comm name, MPI_Comm now, const std::string& key, const PersistOptions& options);
  /// Forgets a communicator. Its messages stay. Local.
  void close(MPI_Comm name);
  /// Returns whether a receive waits for what has not been stored yet. Local.
  [[nodiscard]] bool waits(MPI_Comm name);
  /// Whether this process has taken the place of a dead one, or goes on from files, and has stored nothing yet. Local.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  /// Notes that this process has taken the place of a dead one. Local.
  void note_replacement() { has_failed_ = true; }
  /// Notes that the program will call MPI_Comm_persist again for all communicators. Local.
  void note_stale();
  /// Ends the use. Local.
  void clear();

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
  /// Notes that a message has been received: with a depth, the next receive gets another one. Local.
  void note_received(MPI_Comm name, const StoredMessage& message);
  /// Returns the slot of a rank of the communicator. Local.
  [[nodiscard]] int slot(MPI_Comm name, MPI_Comm now, int rank);

 private:
  struct Communicator {
    std::string key;
    unsigned order = 0;  ///< among those with the same key and ranks
    std::uint64_t comm_id = 0;
    PersistOptions options;
    CommSlots slots;
    bool is_stale = false;  ///< the program will make it again
    std::optional<CommFile> file;
    std::map<std::pair<int, int>, std::uint64_t>
        received;  ///< number of the latest message, by slot of the source and tag
  };

  [[nodiscard]] Communicator& at(MPI_Comm name, MPI_Comm now);
  void append(Communicator& comm, const Signature& signature, const Payload& payload);
  [[nodiscard]] std::optional<Entry> next_of(const Communicator& comm, int slot, int destination, int tag) const;
  [[nodiscard]] static int slot_in(const Communicator& comm, int rank);
  /// Whether a message is one of the program to itself, with which numbers of logged messages are stored.
  [[nodiscard]] bool is_state(const Signature& signature) const;

  const Process& process_;
  Turns& turns_;
  RankJournals& journals_;
  MessageLog& log_;
  std::map<MPI_Comm, Communicator> comms_;
  bool has_failed_ = false;
};

}  // namespace fenix_impl
