// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal_reader.hpp"

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/simd/copy.hpp"
#include "base/simd/hash.hpp"

namespace fenix_impl {

ReadRing JournalReader::reader(int rank, int ring) const {
  if (rank == team_.rank()) return memory_.reader(ring);
  return [this, rank, ring](std::size_t position, std::span<std::byte> to) {
    team_.remote().get(rank, memory_.layout().ring(ring) + position, to);
  };
}

std::vector<Entry> JournalReader::chain_of(int rank, int ring) const {
  std::uint64_t start = 0;
  team_.remote().get(rank, memory_.layout().start(ring), std::as_writable_bytes(std::span(&start, 1)));
  return read_chain(reader(rank, ring), team_.parameters().ring_bytes, start);
}

// Its owner may be writing meanwhile: a chain whose start has stayed where it was is whole.
const Ring& JournalReader::known_ring(int slot, int rank) const {
  constexpr int kMostAttempts = 1000;
  Ring& known = known_.try_emplace(slot, team_.parameters().ring_bytes).first->second;
  const auto start = [&] {
    std::uint64_t word = 0;
    team_.remote().get(rank, memory_.layout().start(0), std::as_writable_bytes(std::span(&word, 1)));
    return word;
  };
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::uint64_t before = start();
    if (known.forget_before(before)) {
      for (const Entry& each : read_chain(reader(rank, 0), team_.parameters().ring_bytes, known.rest()))
        known.note(each);
      known.take_back_jump();
    } else {
      known = Ring(team_.parameters().ring_bytes, read_chain(reader(rank, 0), team_.parameters().ring_bytes, before));
    }
    if (start() == before) return known;
  }
  throw Error(FENIX_ERROR_TIMEOUT,
              "the rank with slot " + std::to_string(slot) + " stores messages faster than they can be read");
}

std::vector<Entry> JournalReader::messages_of(int slot) const {
  if (slot == slot_) return own_.messages();
  const int rank = team_.rank_of(slot);
  return rank == JournalTeam::kNoRank ? std::vector<Entry>() : known_ring(slot, rank).messages();
}

std::vector<Entry> JournalReader::messages_of(int slot, const Signature& signature) const {
  if (slot == slot_) return own_.messages(signature);
  const int rank = team_.rank_of(slot);
  return rank == JournalTeam::kNoRank ? std::vector<Entry>() : known_ring(slot, rank).messages(signature);
}

bool JournalReader::read(int slot, const Entry& entry, std::span<std::byte> to) const {
  const int rank = team_.rank_of(slot);
  if (rank == JournalTeam::kNoRank) return false;
  if (read_ring(rank, 0, entry, to)) return true;
  const std::vector<int> holders = team_.holders_of_rank(rank);
  for (std::size_t copy = 0; copy < holders.size(); ++copy) {
    if (read_ring(holders[copy], static_cast<int>(copy) + 1, entry, to)) return true;
  }
  return false;
}

bool JournalReader::read_ring(int rank, int ring, const Entry& entry, std::span<std::byte> to) const {
  const std::size_t place = memory_.layout().ring(ring) + entry.payload();
  const auto there = rank == team_.rank() ? memory_.region().bytes().subspan(place, to.size())
                                          : team_.remote().direct(rank, place, to.size());
  if (there.size() == to.size()) {
    const Stores stores = worth_streaming(to.size()) ? Stores::streaming : Stores::cached;
    return copy_and_hash(to, {}, there, stores) == entry.head.hash;
  }
  team_.remote().get(rank, place, to);
  return hash_bytes(to) == entry.head.hash;
}

}  // namespace fenix_impl
