// SPDX-License-Identifier: BSD-3-Clause
#include "core/board.hpp"

#include <algorithm>
#include <atomic>

namespace fenix_impl {
namespace {

constexpr int kEpochBits = 48;
constexpr std::uint64_t kEpochMask = (std::uint64_t{1} << kEpochBits) - 1;

std::uint64_t progress_word(Generation generation, Epoch epoch) {
  return (std::uint64_t{generation.value & 0xffffU} << kEpochBits) | (epoch.value & kEpochMask);
}

}  // namespace

std::uint64_t* Board::words(int rank) const {
  return reinterpret_cast<std::uint64_t*>(area_.data() + static_cast<std::size_t>(rank) * kEntryBytes);
}

void Board::reset(Generation generation, Epoch base) {
  generation_ = generation;
  std::fill(known_.begin(), known_.end(), base);
  const std::uint64_t word = progress_word(generation, base);
  for (int rank = 0; rank < size(); ++rank) {
    std::atomic_ref(words(rank)[0]).store(word, std::memory_order_relaxed);
    std::atomic_ref(words(rank)[1]).store(~word, std::memory_order_release);
  }
}

void Board::continue_from(Board& before) {
  generation_ = before.generation_;
  (void)before.reached_by_all();
  if (before.known_.size() == known_.size()) known_ = before.known_;
}

std::uint64_t Board::note(int entry, Epoch epoch) {
  const std::uint64_t word = progress_word(generation_, epoch);
  std::atomic_ref(words(entry)[0]).store(word, std::memory_order_relaxed);
  std::atomic_ref(words(entry)[1]).store(~word, std::memory_order_release);
  return word;
}

void Board::tell(Exposure& peers, int rank, int entry, std::uint64_t word) const {
  const std::size_t offset = start_ + static_cast<std::size_t>(entry) * kEntryBytes;
  peers.put_word(rank, offset, word);
  // Not every path writes 8 bytes at once on every system: the second word tells a whole first one.
  peers.put_word(rank, offset + sizeof word, ~word);
}

void Board::publish(Exposure& peers, std::span<const int> ranks, int entry, Epoch epoch) {
  const std::uint64_t word = note(entry, epoch);
  for (int other = 0; other < size() && other < static_cast<int>(ranks.size()); ++other) {
    if (other != entry) tell(peers, ranks[static_cast<std::size_t>(other)], entry, word);
  }
}

void Board::publish(Exposure& peers, int self, Epoch epoch) {
  const std::uint64_t word = note(self, epoch);
  for (int rank = 0; rank < size(); ++rank) {
    if (rank != self) tell(peers, rank, self, word);
  }
}

Epoch Board::reached_by(int rank) {
  const std::uint64_t check = std::atomic_ref(words(rank)[1]).load(std::memory_order_acquire);
  const std::uint64_t word = std::atomic_ref(words(rank)[0]).load(std::memory_order_acquire);
  const bool whole = word == ~check;
  const bool current = word >> kEpochBits == std::uint64_t{generation_.value & 0xffffU};
  Epoch& known = known_[static_cast<std::size_t>(rank)];
  if (whole && current) known = std::max(known, Epoch{word & kEpochMask});
  return known;
}

Epoch Board::reached_by_all() { return reached_by_first(size()); }

Epoch Board::reached_by_first(int entries) {
  if (entries == 0) return {};
  Epoch least = reached_by(0);
  for (int rank = 1; rank < entries; ++rank) least = std::min(least, reached_by(rank));
  return least;
}

}  // namespace fenix_impl
