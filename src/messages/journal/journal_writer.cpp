// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal_writer.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/simd/copy.hpp"
#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

// Streaming stores have a cost at their end, which short payloads would feel.
constexpr std::size_t kLeastStreamed = std::size_t{32} << 10;

}  // namespace

JournalWriter::JournalWriter(const JournalTeam& team, JournalMemory& memory, int slot)
    : team_(team), memory_(memory), slot_(slot), ring_(team.parameters().ring_bytes) {
  begin_anew();
}

void JournalWriter::begin_anew() {
  published_start_ = ring_.start();
  memory_.set_word(memory_.layout().start(0), published_start_);
}

void JournalWriter::go_on_from(std::span<const Entry> chain) { ring_ = Ring(team_.parameters().ring_bytes, chain); }

void JournalWriter::push_all(int holder, int ring) {
  const JournalLayout& layout = memory_.layout();
  team_.remote().put_word(holder, layout.owner(ring), 0);
  for (const Entry& entry : ring_.chain()) {
    const std::size_t size = journal_format::kHeadBytes + entry.head.bytes;
    std::size_t& reserved = reserved_[static_cast<std::size_t>(ring - 1)];
    const std::size_t end = entry.position + entry_bytes(entry.head.bytes);
    if (end > reserved) {
      team_.remote().reserve(holder, layout.ring(ring) + reserved, end - reserved);
      reserved = end;
    }
    team_.remote().put(holder, layout.ring(ring) + entry.position, memory_.own_ring().subspan(entry.position, size));
  }
  void_next(holder, ring);
  team_.remote().put_word(holder, layout.start(ring), published_start_);
  fault_point("journal.pushed");
  team_.remote().put_word(holder, layout.owner(ring), static_cast<std::uint64_t>(slot_) + 1);
}

void JournalWriter::cut(int holder, int ring) {
  void_next(holder, ring);
  team_.remote().put_word(holder, memory_.layout().start(ring), published_start_);
}

// A message that a failure has cut short may be complete there: it must not come back.
void JournalWriter::void_next(int holder, int ring) {
  if (ring_.head() + journal_format::kHeadBytes > team_.parameters().ring_bytes) return;
  team_.remote().put_word(holder, memory_.layout().ring(ring) + ring_.head(), 0);
}

std::size_t JournalWriter::place(std::size_t copy, std::size_t position) const {
  return memory_.layout().ring(static_cast<int>(copy) + 1) + position;
}

void JournalWriter::append(const Signature& signature, std::uint32_t depth, const Payload& payload,
                           std::uint64_t number) {
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

void JournalWriter::put(const EntryHead& head, const Payload& payload) {
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

void JournalWriter::move_oldest() {
  const Entry oldest = ring_.oldest();
  EntryHead head = oldest.head;
  write(head, {head.bytes, memory_.own_ring().subspan(oldest.payload(), head.bytes)});
}

void JournalWriter::store_again() {
  for (const Entry& each : ring_.messages()) {
    // The step before may have moved it.
    for (const Entry& now : ring_.messages(each.head.signature)) {
      if (now.head.number != each.head.number) continue;
      const auto payload = payload_of(now);
      const std::vector<std::byte> content(payload.begin(), payload.end());
      put(now.head, {content.size(), content});
    }
  }
  publish_start();
}

void JournalWriter::publish_start() {
  const std::uint64_t start = ring_.start();
  if (start == published_start_) return;
  for (std::size_t copy = 0; copy < team_.holders().size(); ++copy) {
    team_.remote().put_word(team_.holders()[copy], memory_.layout().start(static_cast<int>(copy) + 1), start);
  }
  memory_.set_word(memory_.layout().start(0), start);
  published_start_ = start;
}

void JournalWriter::make_room(std::size_t end) {
  memory_.reserve(end);
  for (std::size_t copy = 0; copy < team_.holders().size(); ++copy) {
    std::size_t& reserved = reserved_[copy];
    if (end <= reserved) continue;
    const std::size_t to =
        std::min<std::size_t>(team_.parameters().ring_bytes, std::max(end, reserved + JournalMemory::kReservedAtOnce));
    team_.remote().reserve(team_.holders()[copy], memory_.layout().ring(static_cast<int>(copy) + 1) + reserved,
                           to - reserved);
    reserved = to;
  }
}

// The old entries at this place are not in the chain any more, here and on the holders: readers do not get there. An entry counts
// when its seal is there, and the own seal comes last. So a rank that has read a message finds it after every tolerated death.
void JournalWriter::write(const EntryHead& wanted, const Payload& payload) {
  EntryHead head = wanted;
  head.sequence = ring_.next_sequence();
  const std::size_t position = ring_.head();
  make_room(position + entry_bytes(payload.bytes));
  publish_start();
  if (was_cut_short_) {
    for (std::size_t copy = 0; copy < team_.holders().size(); ++copy)
      team_.remote().put_word(team_.holders()[copy], place(copy, position), 0);
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

void JournalWriter::write_with_copies(EntryHead& head, std::size_t position, const Payload& payload) {
  const auto own = memory_.own_ring().subspan(position, journal_format::kHeadBytes + payload.bytes);
  const auto own_payload = own.subspan(journal_format::kHeadBytes);
  std::size_t mirrored = team_.holders().size();  // the copy that is written together with the own one
  if (payload.bytes > 0 && !payload.pack) {
    std::span<std::byte> mirror;
    if (!team_.holders().empty()) {
      mirror = team_.remote().direct(team_.holders().front(), place(0, position) + journal_format::kHeadBytes,
                                     payload.bytes);
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
  for (std::size_t copy = 0; copy < team_.holders().size(); ++copy) {
    team_.remote().put(team_.holders()[copy], place(copy, position),
                       copy == mirrored ? own.first(journal_format::kHeadBytes) : own);
  }
  for (const int holder : team_.holders()) team_.remote().flush(holder);
  fault_point("persist.held");
  head.seal = seal_of(head, position);
  for (std::size_t copy = 0; copy < team_.holders().size(); ++copy) {
    team_.remote().put_word(team_.holders()[copy], place(copy, position), head.seal);
  }
  fault_point("persist.copies_sealed");
}

}  // namespace fenix_impl
