// SPDX-License-Identifier: BSD-3-Clause
// A ring of a journal, as it is in the memory of another rank. Any bytes may be there: no access leads outside, the chain ends, and a ring
// that goes on from it keeps its promises.
#include "messages/journal/entry.hpp"

#include "fuzz/support.hpp"
#include "messages/journal/ring.hpp"

using namespace fenix_impl;
using journal_format::kHeadBytes;
using journal_format::kUnit;

namespace {

constexpr std::size_t kMostUnits = 256;

struct Memory {
  fuzz::Bytes bytes;

  [[nodiscard]] std::size_t units() const { return bytes.size() / kUnit; }

  /// Puts a head where it may lie. sealed: as its writer would, so that it counts.
  void put(std::size_t position, EntryHead head, bool sealed) {
    if (bytes.size() - position < kHeadBytes) return;
    if (sealed) {
      head.version = journal_format::kVersion;
      head.seal = seal_of(head, position);
    }
    std::memcpy(bytes.data() + position, &head, sizeof head);
  }

  [[nodiscard]] std::vector<Entry> chain(std::uint64_t start) const {
    const ReadRing read = [this](std::size_t position, std::span<std::byte> to) {
      fuzz::require(position <= bytes.size() && to.size() <= bytes.size() - position, "what is read lies in the ring");
      std::memcpy(to.data(), bytes.data() + position, to.size());
    };
    return read_chain(read, bytes.size(), start);
  }
};

bool overlap(std::size_t begin, std::size_t end, const Entry& other) {
  return begin < other.position + entry_bytes(other.head.bytes) && other.position < end;
}

void check_chain(const std::vector<Entry>& chain, std::size_t capacity) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Entry& entry = chain[i];
    fuzz::require(entry.payload() + entry.head.bytes <= capacity, "an entry lies in the ring");
    fuzz::require(i == 0 || entry.head.sequence == chain[i - 1].head.sequence + 1, "sequences follow each other");
    for (std::size_t j = 0; j < i; ++j) {
      fuzz::require(!overlap(entry.position, entry.position + entry_bytes(entry.head.bytes), chain[j]),
                    "entries of a chain lie beside each other");
    }
  }
}

void check_ring(const Ring& ring) {
  std::size_t needed = 0;
  const std::vector<Entry> messages = ring.messages();
  for (const Entry& each : messages) {
    needed += entry_bytes(each.head.bytes);
    fuzz::require(each.head.kind == EntryKind::message, "a message is no jump");
    const auto same = ring.messages(each.head.signature);
    fuzz::require(
        std::find_if(same.begin(), same.end(),
                     [&](const Entry& other) { return other.head.sequence == each.head.sequence; }) != same.end(),
        "a message is among those of its signature");
  }
  fuzz::require(needed == ring.needed_bytes(), "bytes of the messages that are needed");
  fuzz::require(ring.head() <= ring.capacity() && ring.head() % kUnit == 0, "place of the next entry");
  check_chain(ring.chain(), ring.capacity());
  fuzz::require(ring.chain().empty() || ring.chain().front().head.sequence == ring.oldest().head.sequence,
                "a chain begins with the oldest message");
}

/// Writes an entry where the ring says, as a journal does.
void write(Memory& memory, Ring& ring, EntryHead head) {
  head.sequence = ring.next_sequence();
  const std::size_t position = ring.head();
  const std::size_t size = entry_bytes(head.bytes);
  fuzz::require(position + size <= ring.capacity(), "there is room for an entry");
  for (const Entry& each : ring.chain()) {
    fuzz::require(!overlap(position, position + size, each), "an entry is written beside those of the chain");
  }
  memory.put(position, head, true);
  ring.note({head, position});
  check_ring(ring);
}

/// Stores a message. All that is there is moved once at most.
bool store(Memory& memory, Ring& ring, const Signature& signature, std::uint32_t depth, std::size_t bytes) {
  for (std::size_t steps = 0;; ++steps) {
    fuzz::require(steps <= 2 * memory.units() + 2, "a message finds its place, or none");
    EntryHead head;
    switch (ring.next_step(signature, depth, bytes)) {
      case Ring::Step::place:
        head.bytes = bytes;
        head.signature = signature;
        head.number = ring.next_number();
        head.depth = depth;
        write(memory, ring, head);
        return true;
      case Ring::Step::jump:
        head.kind = EntryKind::jump;
        write(memory, ring, head);
        break;
      case Ring::Step::move:
        write(memory, ring, ring.oldest().head);
        break;
      case Ring::Step::none:
        return false;
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Memory memory{fuzz::Bytes((input.take<std::uint16_t>() % kMostUnits + 1) * kUnit)};
  const auto start = input.take<std::uint64_t>();
  for (auto number = input.take<std::uint8_t>(); number > 0 && !input.empty(); --number) {
    const std::size_t position = input.take<std::uint16_t>() % memory.units() * kUnit;
    const bool sealed = input.take<std::uint8_t>() % 4 != 0;
    memory.put(position, input.take<EntryHead>(), sealed);
  }
  const std::vector<Entry> chain = memory.chain(start);
  check_chain(chain, memory.bytes.size());
  Ring ring(memory.bytes.size(), chain);
  check_ring(ring);
  while (!input.empty()) {
    const Signature signature{input.take<std::uint8_t>() % 3U, input.take<std::uint8_t>() % 2, 0};
    const std::uint32_t depth = input.take<std::uint8_t>() % 5U + 1;
    const auto bytes = input.take<std::uint16_t>();
    if (store(memory, ring, signature, depth, bytes)) {
      const auto kept = ring.messages(signature);
      fuzz::require(!kept.empty() && kept.back().head.bytes == bytes, "the newest message is the one that was stored");
    }
    if (depth == 5) ring.release_until(signature, ring.next_number() - 2);
    check_ring(ring);
  }
  // Another rank finds the same.
  const std::vector<Entry> again = memory.chain(ring.start());
  const std::vector<Entry> known = ring.chain();
  fuzz::require(again.size() >= known.size(), "the chain is as long as the ring says");
  for (std::size_t i = 0; i < known.size(); ++i) {
    fuzz::require(again[i].head.sequence == known[i].head.sequence && again[i].position == known[i].position,
                  "an entry is where the ring says");
  }
  return 0;
}
