// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/persistent_comms.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/simd/hash.hpp"
#include "messages/journal/contribution.hpp"

namespace fenix_impl {
namespace {

/// The tag of the entry of a rank that has given nothing yet.
constexpr int kTagOfTakers = -999;

std::uint64_t comm_id_of(const std::string& key, const std::vector<int>& slots, unsigned order) {
  const std::uint64_t of_key = hash_bytes(std::as_bytes(std::span(key)), order);
  return hash_bytes(std::as_bytes(std::span(slots)), of_key);
}

}  // namespace

void PersistentComms::open(MPI_Comm name, MPI_Comm now, const std::string& key, const PersistOptions& options) {
  const auto turn = turns_.take();
  Communicator comm;
  comm.key = key;
  comm.options = options;
  comm.slots.look_up(process_, now);
  if (!journals_.exist()) journals_.form(options);
  journals_.require();
  // A program that has come out of Fenix_Init again gets the same handle.
  comms_.erase(name);
  const auto is_taken = [&](unsigned order) {
    return std::any_of(comms_.begin(), comms_.end(), [&](const auto& each) {
      const Communicator& other = each.second;
      return !other.is_stale && other.key == key && other.slots.by_rank() == comm.slots.by_rank() &&
             other.order == order;
    });
  };
  while (is_taken(comm.order)) ++comm.order;
  comm.comm_id = comm_id_of(key, comm.slots.by_rank(), comm.order);
  if (!options.folder.empty()) {
    comm.file.emplace(options.folder, comm.comm_id, journals_.held().slot());
    comm.file->open(journals_.held(), has_failed_);
  }
  comms_.emplace(name, std::move(comm));
}

void PersistentComms::close(MPI_Comm name) {
  const auto turn = turns_.take();
  comms_.erase(name);
}

bool PersistentComms::waits(MPI_Comm name) {
  const auto turn = turns_.take();
  const auto found = comms_.find(name);
  return found != comms_.end() && found->second.options.waits;
}

void PersistentComms::note_stale() {
  for (auto& [name, comm] : comms_) comm.is_stale = true;
}

void PersistentComms::clear() {
  comms_.clear();
  has_failed_ = false;
}

PersistentComms::Communicator& PersistentComms::at(MPI_Comm name, MPI_Comm now) {
  const auto found = comms_.find(name);
  if (found == comms_.end()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "the communicator is not persistent");
  journals_.require();
  Communicator& comm = found->second;
  // Ranks may have other numbers after a repair that has shrunk the communicator. Its number stays.
  if (!comm.slots.are_known(process_)) comm.slots.look_up(process_, now);
  return comm;
}

bool PersistentComms::is_state(const Signature& signature) const {
  return log_.is_active() && signature.tag >= 0 && signature.destination == journals_.held().slot();
}

void PersistentComms::store(MPI_Comm name, MPI_Comm now, int destination, int tag, const Payload& payload) {
  const auto turn = turns_.take();
  Communicator& comm = at(name, now);
  const Signature signature{comm.comm_id, slot_in(comm, destination), tag};
  if (is_state(signature)) log_.numbers().store(journals_.of_log(), signature, comm.options.depth);
  append(comm, signature, payload);
  has_failed_ = false;
  if (is_state(signature)) log_.collector().note_stored(journals_.of_log());
}

void PersistentComms::append(Communicator& comm, const Signature& signature, const Payload& payload) {
  if (log_.is_active()) {
    log_.writer().write_determinants(journals_.of_log());
    log_.writer().append(journals_.of_log(), signature, comm.options.depth, payload);
  } else {
    journals_.held().writer().append(signature, comm.options.depth, payload);
  }
  if (comm.file) comm.file->append_latest(journals_.held());
}

void PersistentComms::note_taker(MPI_Comm name, MPI_Comm now) {
  const auto turn = turns_.take();
  Communicator& comm = at(name, now);
  if (!comm.file || comm.file->has_entries()) return;
  append(comm, {comm.comm_id, BlockTarget::kEveryRank, kTagOfTakers}, {});
}

int PersistentComms::slot_in(const Communicator& comm, int rank) {
  return rank == kEveryRank ? BlockTarget::kEveryRank : comm.slots.of(rank);
}

int PersistentComms::slot(MPI_Comm name, MPI_Comm now, int rank) {
  const auto turn = turns_.take();
  return slot_in(at(name, now), rank);
}

std::optional<Entry> PersistentComms::next_of(const Communicator& comm, int slot, int destination, int tag) const {
  const Signature wanted{comm.comm_id, destination, tag};
  const std::vector<Entry> all = tag == MPI_ANY_TAG ? journals_.held().reader().messages_of(slot)
                                                    : journals_.held().reader().messages_of(slot, wanted);
  std::optional<Entry> next;
  for (const Entry& each : all) {
    const EntryHead& head = each.head;
    if (head.signature.comm_id != wanted.comm_id || head.signature.destination != wanted.destination) continue;
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

std::optional<StoredMessage> PersistentComms::find(MPI_Comm name, MPI_Comm now, int source, int tag) {
  const auto turn = turns_.take();
  const Communicator& comm = at(name, now);
  const int first = source == MPI_ANY_SOURCE ? 0 : source;
  const int last = source == MPI_ANY_SOURCE ? static_cast<int>(comm.slots.by_rank().size()) - 1 : source;
  for (int rank = first; rank <= last; ++rank) {
    const int slot = comm.slots.of(rank);
    if (const auto entry = next_of(comm, slot, comm.slots.own(), tag))
      return StoredMessage{{*entry, &journals_.held(), nullptr}, rank, slot};
  }
  return std::nullopt;
}

std::optional<StoredMessage> PersistentComms::find_for(MPI_Comm name, MPI_Comm now, int source, int destination,
                                                       int tag) {
  const auto turn = turns_.take();
  const Communicator& comm = at(name, now);
  const int slot = slot_in(comm, source);
  const auto entry = next_of(comm, slot, slot_in(comm, destination), tag);
  return entry ? std::optional(StoredMessage{{*entry, &journals_.held(), nullptr}, source, slot}) : std::nullopt;
}

void PersistentComms::note_received(MPI_Comm name, const StoredMessage& message) {
  const auto turn = turns_.take();
  const auto found = comms_.find(name);
  if (found == comms_.end()) return;
  if (log_.is_active() && has_failed_ && message.source_slot == journals_.held().slot()) {
    log_.numbers().take(journals_.of_log(), message.source_slot, message.entry);
  }
  if (found->second.options.depth == 1) return;
  found->second.received[{message.source_slot, message.entry.head.signature.tag}] = message.entry.head.number;
}

}  // namespace fenix_impl
