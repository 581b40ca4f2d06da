// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/copy.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

constexpr int kNoRank = -1;

// Streaming stores have a cost at their end, which short payloads would feel.
constexpr std::size_t kLeastStreamed = std::size_t{32} << 10;

}  // namespace

struct Journal::Statement {
  std::int32_t slot = 0;
  std::array<std::int32_t, JournalParameters::kMostCopies> held{};   ///< slots whose rings it holds, by copy
  std::array<std::int32_t, JournalLayout::kMostWitnesses> needed{};  ///< slots that need their journals, or −1
};

std::vector<int> holders_of(int rank, int ranks, const JournalParameters& parameters) {
  std::vector<int> holders;
  for (int copy = 0; copy < std::min(parameters.copies, ranks - 1); ++copy) {
    // Ranks that are a multiple of the separation apart may come back to the same one: then the next one that is free.
    auto holder = static_cast<int>((rank + std::int64_t{copy + 1} * parameters.separation) % ranks);
    while (holder == rank || std::find(holders.begin(), holders.end(), holder) != holders.end()) {
      holder = (holder + 1) % ranks;
    }
    holders.push_back(holder);
  }
  return holders;
}

Journal::Journal(const JournalParameters& parameters, int slot, bool is_new)
    : parameters_(parameters),
      slot_(slot),
      is_complete_(!is_new),
      memory_(parameters),
      ring_(parameters.ring_bytes),
      published_start_(ring_.start()) {
  memory_.set_word(memory_.layout().start(0), published_start_);
}

// ---------------------------------------------------------------------------------------------------------------- attachment

void Journal::attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots) {
  detach();
  rank_ = team.rank();
  slots_ = std::move(slots);
  holders_ = holders_of(rank_, team.size(), parameters_);
  reserved_.assign(holders_.size(), 0);
  std::unique_ptr<RemoteRegions> remote;
  (void)meet(team, Operation::journal_attach, parameters_.ring_bytes, 0, [&] {
    path_ = choose();
    remote = path_->expose(team, memory_.region());
    for (const int holder : holders_) remote->reach(holder);
    for (const int witness : witnesses()) remote->reach(witness);
  });
  remote_ = std::move(remote);

  Statement mine{slot_, {}};
  for (int copy = 0; copy < JournalParameters::kMostCopies; ++copy) {
    const bool exists = copy < parameters_.copies;
    const auto owner = exists ? memory_.word(memory_.layout().owner(copy + 1)) : 0;
    mine.held[static_cast<std::size_t>(copy)] = static_cast<std::int32_t>(owner) - 1;
  }
  for (int distance = 1; distance <= JournalLayout::kMostWitnesses; ++distance) {
    const auto word = memory_.word(JournalLayout::witness(distance));
    mine.needed[static_cast<std::size_t>(distance) - 1] = static_cast<std::int32_t>(word) - 1;
  }
  const std::vector<Statement> statements = team.gather(mine);
  for (const Statement& each : statements) {
    is_needed_ = is_needed_ || std::find(each.needed.begin(), each.needed.end(), slot_) != each.needed.end();
  }
  (void)meet(team, Operation::journal_taken, 0, 0, [&] {
    if (!is_complete_) take_back(statements);
  });
  fault_point("journal.taken");
  // Held rings may get other owners now: all have taken back what was in them.
  (void)meet(team, Operation::journal_protected, 0, 0, [&] {
    // Copies that are made anew begin with the oldest entry that is needed.
    published_start_ = ring_.start();
    memory_.set_word(memory_.layout().start(0), published_start_);
    for (std::size_t copy = 0; copy < holders_.size(); ++copy) protect(statements, static_cast<int>(copy));
    if (is_needed_) tell_witnesses();
  });
  was_cut_short_ = false;
  is_attached_ = true;
}

void Journal::detach() {
  is_attached_ = false;
  known_.clear();
  remote_.reset();
  path_.reset();
}

// Takes the longest of the copies: the dead rank may not have come to write to all of them.
void Journal::take_back(const std::vector<Statement>& statements) {
  std::vector<Entry> longest;
  std::pair<int, int> from{kNoRank, 0};
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    for (int copy = 0; copy < parameters_.copies; ++copy) {
      if (statements[rank].held[static_cast<std::size_t>(copy)] != slot_) continue;
      std::vector<Entry> chain = chain_of(static_cast<int>(rank), copy + 1);
      const bool is_longer =
          from.first == kNoRank ||
          (!chain.empty() && (longest.empty() || chain.back().head.sequence > longest.back().head.sequence));
      if (is_longer) {
        longest = std::move(chain);
        from = {static_cast<int>(rank), copy + 1};
      }
    }
  }
  has_lost_messages_ = from.first == kNoRank;
  if (!longest.empty()) {
    const auto ring = memory_.own_ring();
    for (const Entry& entry : longest) {
      const std::size_t size = journal_format::kHeadBytes + entry.head.bytes;
      memory_.reserve(entry.position + entry_bytes(entry.head.bytes));
      remote_->get(from.first, memory_.layout().ring(from.second) + entry.position, ring.subspan(entry.position, size));
    }
  }
  ring_ = Ring(parameters_.ring_bytes, longest);
  // The others may have less.
  if (!has_lost_messages_) in_step_ = {slots_[static_cast<std::size_t>(from.first)]};
  is_complete_ = true;
}

void Journal::protect(const std::vector<Statement>& statements, int copy) {
  const int holder = holders_[static_cast<std::size_t>(copy)];
  const Statement& there = statements[static_cast<std::size_t>(holder)];
  const bool has_it = there.held[static_cast<std::size_t>(copy)] == slot_;
  const int holder_slot = slots_[static_cast<std::size_t>(holder)];
  if (!has_it || in_step_.count(holder_slot) == 0) {
    push_all(holder, copy + 1);
    in_step_.insert(holder_slot);
    return;
  }
  // A message that a failure has cut short may be complete there: it must not come back.
  if (ring_.head() + journal_format::kHeadBytes <= parameters_.ring_bytes) {
    remote_->put_word(holder, memory_.layout().ring(copy + 1) + ring_.head(), 0);
  }
  remote_->put_word(holder, memory_.layout().start(copy + 1), published_start_);
}

void Journal::note_needed() {
  if (is_needed_) return;
  tell_witnesses();
  is_needed_ = true;
}

// Returns those that are 1, 2, 3, … places away.
std::vector<int> Journal::witnesses() const {
  const auto ranks = static_cast<int>(slots_.size());
  std::vector<int> witnesses;
  for (int distance = 1; distance <= std::min(JournalLayout::kMostWitnesses, ranks - 1); ++distance) {
    witnesses.push_back((rank_ + distance) % ranks);
  }
  return witnesses;
}

void Journal::tell_witnesses() {
  int distance = 0;
  for (const int witness : witnesses()) {
    remote_->put_word(witness, JournalLayout::witness(++distance), static_cast<std::uint64_t>(slot_) + 1);
    remote_->flush(witness);
  }
}

void Journal::push_all(int holder, int ring) {
  const JournalLayout& layout = memory_.layout();
  remote_->put_word(holder, layout.owner(ring), 0);
  for (const Entry& entry : ring_.chain()) {
    const std::size_t size = journal_format::kHeadBytes + entry.head.bytes;
    std::size_t& reserved = reserved_[static_cast<std::size_t>(ring - 1)];
    const std::size_t end = entry.position + entry_bytes(entry.head.bytes);
    if (end > reserved) {
      remote_->reserve(holder, layout.ring(ring) + reserved, end - reserved);
      reserved = end;
    }
    remote_->put(holder, layout.ring(ring) + entry.position, memory_.own_ring().subspan(entry.position, size));
  }
  if (ring_.head() + journal_format::kHeadBytes <= parameters_.ring_bytes) {
    remote_->put_word(holder, layout.ring(ring) + ring_.head(), 0);
  }
  remote_->put_word(holder, layout.start(ring), published_start_);
  fault_point("journal.pushed");
  remote_->put_word(holder, layout.owner(ring), static_cast<std::uint64_t>(slot_) + 1);
}

// -------------------------------------------------------------------------------------------------------------------- storing

std::size_t Journal::place(std::size_t copy, std::size_t position) const {
  return memory_.layout().ring(static_cast<int>(copy) + 1) + position;
}

void Journal::append(const Signature& signature, std::uint32_t depth, const Payload& payload, std::uint64_t number) {
  EntryHead head;
  head.bytes = payload.bytes;
  head.signature = signature;
  head.number = number;
  head.depth = depth;
  try {
    put(head, payload);
  } catch (...) {
    // The next message may be another one, for which there is no room after a jump. Holders have the jump: it has to be voided there.
    ring_.take_back_jump();
    was_cut_short_ = true;
    throw;
  }
}

void Journal::put(const EntryHead& head, const Payload& payload) {
  for (;;) {
    switch (ring_.next_step(head.signature, head.depth, payload.bytes)) {
      case Ring::Step::place:
        write(head, payload);
        return;
      case Ring::Step::jump: {
        EntryHead jump;
        jump.kind = EntryKind::jump;
        write(jump, {});
        break;
      }
      case Ring::Step::move:
        move_oldest();
        break;
      case Ring::Step::none:
        throw Error(FENIX_ERROR_NO_MEMORY, "a message of " + std::to_string(payload.bytes) +
                                               " bytes finds no room beside " + std::to_string(ring_.needed_bytes()) +
                                               " bytes of messages that are kept: raise persist_volume");
    }
  }
}

void Journal::move_oldest() {
  const Entry oldest = ring_.oldest();
  EntryHead head = oldest.head;
  write(head, {head.bytes, memory_.own_ring().subspan(oldest.payload(), head.bytes)});
}

void Journal::store_again() {
  for (const Entry& each : messages_of(slot_)) {
    // The step before may have moved it.
    for (const Entry& now : messages_of(slot_, each.head.signature)) {
      if (now.head.number != each.head.number) continue;
      const auto payload = own_payload(now);
      const std::vector<std::byte> content(payload.begin(), payload.end());
      put(now.head, {content.size(), content});
    }
  }
  publish_start();
}

void Journal::publish_start() {
  const std::uint64_t start = ring_.start();
  if (start == published_start_) return;
  for (std::size_t copy = 0; copy < holders_.size(); ++copy) {
    remote_->put_word(holders_[copy], memory_.layout().start(static_cast<int>(copy) + 1), start);
  }
  memory_.set_word(memory_.layout().start(0), start);
  published_start_ = start;
}

void Journal::make_room(std::size_t end) {
  memory_.reserve(end);
  for (std::size_t copy = 0; copy < holders_.size(); ++copy) {
    std::size_t& reserved = reserved_[copy];
    if (end <= reserved) continue;
    const std::size_t to =
        std::min<std::size_t>(parameters_.ring_bytes, std::max(end, reserved + JournalMemory::kReservedAtOnce));
    remote_->reserve(holders_[copy], memory_.layout().ring(static_cast<int>(copy) + 1) + reserved, to - reserved);
    reserved = to;
  }
}

// The old entries at this place are not in the chain any more, here and on the holders: readers do not get there. An entry counts
// when its seal is there, and the own seal comes last. So a rank that has read a message finds it after every tolerated death.
void Journal::write(const EntryHead& wanted, const Payload& payload) {
  EntryHead head = wanted;
  head.sequence = ring_.next_sequence();
  const std::size_t position = ring_.head();
  make_room(position + entry_bytes(payload.bytes));
  publish_start();
  if (was_cut_short_) {
    for (std::size_t copy = 0; copy < holders_.size(); ++copy)
      remote_->put_word(holders_[copy], place(copy, position), 0);
  }
  was_cut_short_ = true;
  memory_.set_word(memory_.layout().ring(0) + position, 0);
  write_with_copies(head, position, payload);
  memory_.set_word(memory_.layout().ring(0) + position, head.seal);
  was_cut_short_ = false;
  ring_.note({head, position});
  latest_ = {head, position};
  fault_point("persist.sealed");
}

void Journal::write_with_copies(EntryHead& head, std::size_t position, const Payload& payload) {
  const auto own = memory_.own_ring().subspan(position, journal_format::kHeadBytes + payload.bytes);
  const auto own_payload = own.subspan(journal_format::kHeadBytes);
  std::size_t mirrored = holders_.size();  // the copy that is written together with the own one
  if (payload.bytes > 0 && !payload.pack) {
    std::span<std::byte> mirror;
    if (!holders_.empty()) {
      mirror = remote_->direct(holders_.front(), place(0, position) + journal_format::kHeadBytes, payload.bytes);
      if (!mirror.empty()) mirrored = 0;
    }
    // The caches do not have what was written here the last time.
    const bool is_streamed = payload.bytes >= kLeastStreamed && worth_streaming(ring_.end());
    // Streaming stores may be seen before words that were written earlier: readers would find new bytes in an entry that still counts.
    if (is_streamed) std::atomic_thread_fence(std::memory_order_seq_cst);
    head.hash = copy_and_hash(own_payload, mirror, payload.data, is_streamed ? Stores::streaming : Stores::cached);
  } else {
    payload.copy_to(own_payload);
    head.hash = hash_bytes(own_payload);
  }
  std::memcpy(own.data(), &head, sizeof head);
  fault_point("persist.copied");
  for (std::size_t copy = 0; copy < holders_.size(); ++copy) {
    remote_->put(holders_[copy], place(copy, position), copy == mirrored ? own.first(journal_format::kHeadBytes) : own);
  }
  for (const int holder : holders_) remote_->flush(holder);
  fault_point("persist.held");
  head.seal = seal_of(head, position);
  for (std::size_t copy = 0; copy < holders_.size(); ++copy) {
    remote_->put_word(holders_[copy], place(copy, position), head.seal);
  }
  fault_point("persist.copies_sealed");
}

// -------------------------------------------------------------------------------------------------------------------- reading

int Journal::rank_of(int slot) const {
  const auto found = std::find(slots_.begin(), slots_.end(), slot);
  return found == slots_.end() ? kNoRank : static_cast<int>(found - slots_.begin());
}

ReadRing Journal::reader(int rank, int ring) const {
  if (rank == rank_) return memory_.reader(ring);
  return [this, rank, ring](std::size_t position, std::span<std::byte> to) {
    remote_->get(rank, memory_.layout().ring(ring) + position, to);
  };
}

std::vector<Entry> Journal::chain_of(int rank, int ring) const {
  std::uint64_t start = 0;
  remote_->get(rank, memory_.layout().start(ring), std::as_writable_bytes(std::span(&start, 1)));
  return read_chain(reader(rank, ring), parameters_.ring_bytes, start);
}

// Its owner may be writing meanwhile: a chain whose start has stayed where it was is whole.
const Ring& Journal::known_ring(int slot, int rank) const {
  constexpr int kMostAttempts = 1000;
  Ring& known = known_.try_emplace(slot, parameters_.ring_bytes).first->second;
  const auto start = [&] {
    std::uint64_t word = 0;
    remote_->get(rank, memory_.layout().start(0), std::as_writable_bytes(std::span(&word, 1)));
    return word;
  };
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::uint64_t before = start();
    if (known.forget_before(before)) {
      for (const Entry& each : read_chain(reader(rank, 0), parameters_.ring_bytes, known.rest())) known.note(each);
      known.take_back_jump();
    } else {
      known = Ring(parameters_.ring_bytes, read_chain(reader(rank, 0), parameters_.ring_bytes, before));
    }
    if (start() == before) return known;
  }
  throw Error(FENIX_ERROR_TIMEOUT,
              "the rank with slot " + std::to_string(slot) + " stores messages faster than they can be read");
}

std::vector<Entry> Journal::messages_of(int slot) const {
  if (slot == slot_) return ring_.messages();
  const int rank = rank_of(slot);
  return rank == kNoRank ? std::vector<Entry>() : known_ring(slot, rank).messages();
}

std::vector<Entry> Journal::messages_of(int slot, const Signature& signature) const {
  if (slot == slot_) return ring_.messages(signature);
  const int rank = rank_of(slot);
  return rank == kNoRank ? std::vector<Entry>() : known_ring(slot, rank).messages(signature);
}

bool Journal::read(int slot, const Entry& entry, std::span<std::byte> to) const {
  const int rank = rank_of(slot);
  if (rank == kNoRank) return false;
  if (read_ring(rank, 0, entry, to)) return true;
  const std::vector<int> holders = holders_of(rank, static_cast<int>(slots_.size()), parameters_);
  for (std::size_t copy = 0; copy < holders.size(); ++copy) {
    if (read_ring(holders[copy], static_cast<int>(copy) + 1, entry, to)) return true;
  }
  return false;
}

bool Journal::read_ring(int rank, int ring, const Entry& entry, std::span<std::byte> to) const {
  const std::size_t place = memory_.layout().ring(ring) + entry.payload();
  const auto there =
      rank == rank_ ? memory_.region().bytes().subspan(place, to.size()) : remote_->direct(rank, place, to.size());
  if (there.size() == to.size()) {
    const Stores stores = worth_streaming(to.size()) ? Stores::streaming : Stores::cached;
    return copy_and_hash(to, {}, there, stores) == entry.head.hash;
  }
  remote_->get(rank, place, to);
  return hash_bytes(to) == entry.head.hash;
}

}  // namespace fenix_impl
