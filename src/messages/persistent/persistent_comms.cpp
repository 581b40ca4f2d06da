// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/persistent_comms.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "core/common/meeting.hpp"
#include "messages/journal/contribution.hpp"

namespace fenix_impl {
namespace {

/// The tag of the entry of a rank that has given nothing yet.
constexpr int kTagOfTakers = -999;

std::uint64_t channel_of(const std::string& key, const std::vector<int>& slots, unsigned order) {
  const std::uint64_t of_key = hash_bytes(std::as_bytes(std::span(key)), order);
  return hash_bytes(std::as_bytes(std::span(slots)), of_key);
}

}  // namespace

void Persistence::open(MPI_Comm name, MPI_Comm now, const std::string& key, const PersistOptions& options) {
  const auto turn = take_turn();
  Communicator comm;
  comm.key = key;
  comm.options = options;
  look_up_ranks(comm, now);
  if (!journal_) form_journal(options);
  require_journal();
  // A program that has come out of Fenix_Init again gets the same handle.
  comms_.erase(name);
  const auto is_taken = [&](unsigned order) {
    return std::any_of(comms_.begin(), comms_.end(), [&](const auto& each) {
      const Communicator& other = each.second;
      return !other.is_past && other.key == key && other.slots == comm.slots && other.order == order;
    });
  };
  while (is_taken(comm.order)) ++comm.order;
  comm.channel = channel_of(key, comm.slots, comm.order);
  if (!options.folder.empty()) open_file(comm);
  comms_.emplace(name, std::move(comm));
}

void Persistence::close(MPI_Comm name) {
  const auto turn = take_turn();
  comms_.erase(name);
}

bool Persistence::waits(MPI_Comm name) {
  const auto turn = take_turn();
  const auto found = comms_.find(name);
  return found != comms_.end() && found->second.options.waits;
}

void Persistence::look_up_ranks(Communicator& comm, MPI_Comm now) const {
  comm.slots.clear();
  for (const int rank : process_.ranks_of(now)) {
    comm.slots.push_back(process_.slots().by_rank().at(static_cast<std::size_t>(rank)));
  }
  int rank = 0;
  check_mpi(MPI_Comm_rank(now, &rank), "MPI_Comm_rank");
  comm.own_slot = comm.slots.at(static_cast<std::size_t>(rank));
  comm.repairs = process_.repairs();
}

Persistence::Communicator& Persistence::at(MPI_Comm name, MPI_Comm now) {
  const auto found = comms_.find(name);
  if (found == comms_.end()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "the communicator is not persistent");
  require_journal();
  Communicator& comm = found->second;
  // Ranks may have other numbers after a repair that has shrunk the communicator. The channel stays.
  if (comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  return comm;
}

void Persistence::store(MPI_Comm name, MPI_Comm now, int destination, int tag, const Payload& payload) {
  const auto turn = take_turn();
  Communicator& comm = at(name, now);
  const Signature signature{comm.channel, slot_in(comm, destination), tag};
  if (log_.is_active() && tag >= 0 && signature.destination == journal_->slot()) {
    log_.numbers().store(journals(), signature, comm.options.depth);
  }
  append(comm, signature, payload);
  has_failed_ = false;
  if (log_.is_active() && tag >= 0 && signature.destination == journal_->slot())
    log_.collector().note_stored(journals());
}

void Persistence::append(Communicator& comm, const Signature& signature, const Payload& payload) {
  if (log_.is_active()) {
    log_.writer().write_decisions(journals());
    log_.writer().append(journals(), signature, comm.options.depth, payload);
  } else {
    journal_->append(signature, comm.options.depth, payload);
  }
  if (!comm.file) return;
  file_latest(comm);
  comm.has_entries = true;
}

void Persistence::note_taker(MPI_Comm name, MPI_Comm now) {
  const auto turn = take_turn();
  Communicator& comm = at(name, now);
  if (!comm.file || comm.has_entries) return;
  append(comm, {comm.channel, BlockTarget::kEveryRank, kTagOfTakers}, {});
}

int Persistence::slot_in(const Communicator& comm, int rank) {
  return rank == kEveryRank ? BlockTarget::kEveryRank : comm.slots.at(static_cast<std::size_t>(rank));
}

int Persistence::slot(MPI_Comm name, MPI_Comm now, int rank) {
  const auto turn = take_turn();
  return slot_in(at(name, now), rank);
}

std::optional<Entry> Persistence::next_of(const Communicator& comm, int slot, int destination, int tag) const {
  const Signature wanted{comm.channel, destination, tag};
  const std::vector<Entry> all = tag == MPI_ANY_TAG ? journal_->messages_of(slot) : journal_->messages_of(slot, wanted);
  std::optional<Entry> next;
  for (const Entry& each : all) {
    const EntryHead& head = each.head;
    if (head.signature.channel != wanted.channel || head.signature.destination != wanted.destination) continue;
    // A receive does not get contributions to collective operations.
    if (tag == MPI_ANY_TAG && head.signature.tag < 0) continue;
    bool newer_wins = true;
    if (comm.options.depth > 1) {
      const auto last = comm.received.find({slot, head.signature.tag});
      if (comm.options.newest_first) {
        if (last != comm.received.end() && head.number >= last->second) continue;
      } else {
        if (last != comm.received.end() && head.number <= last->second) continue;
        newer_wins = false;
      }
    }
    if (!next || (head.number > next->head.number) == newer_wins) next = each;
  }
  return next;
}

std::optional<StoredMessage> Persistence::find(MPI_Comm name, MPI_Comm now, int source, int tag) {
  const auto turn = take_turn();
  const Communicator& comm = at(name, now);
  const int first = source == MPI_ANY_SOURCE ? 0 : source;
  const int last = source == MPI_ANY_SOURCE ? static_cast<int>(comm.slots.size()) - 1 : source;
  for (int rank = first; rank <= last; ++rank) {
    const int slot = comm.slots.at(static_cast<std::size_t>(rank));
    if (const auto entry = next_of(comm, slot, comm.own_slot, tag))
      return StoredMessage{{*entry, journal_.get(), nullptr}, rank, slot};
  }
  return std::nullopt;
}

std::optional<StoredMessage> Persistence::find_for(MPI_Comm name, MPI_Comm now, int source, int destination, int tag) {
  const auto turn = take_turn();
  const Communicator& comm = at(name, now);
  const int slot = slot_in(comm, source);
  const auto entry = next_of(comm, slot, slot_in(comm, destination), tag);
  return entry ? std::optional(StoredMessage{{*entry, journal_.get(), nullptr}, source, slot}) : std::nullopt;
}

bool Persistence::stays(const StoredMessage& message) {
  const auto turn = take_turn();
  require_journal();
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  return message.source_slot == journal_->slot() && level != MPI_THREAD_MULTIPLE;
}

bool Persistence::read(const StoredMessage& message, std::span<std::byte> to) {
  const auto turn = take_turn();
  require_journal();
  return message.read(message.source_slot, to);
}

void Persistence::note_received(MPI_Comm name, const StoredMessage& message) {
  const auto turn = take_turn();
  const auto found = comms_.find(name);
  if (found == comms_.end()) return;
  if (log_.is_active() && has_failed_ && message.source_slot == journal_->slot()) {
    log_.numbers().take(journals(), message.source_slot, message.entry);
  }
  if (found->second.options.depth == 1) return;
  found->second.received[{message.source_slot, message.entry.head.signature.tag}] = message.entry.head.number;
}

}  // namespace fenix_impl
