// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/board.hpp"

#include <algorithm>

namespace fenix_impl {

ProgressCell Board::cell(int entry) const {
  return ProgressCell(area_.subspan(static_cast<std::size_t>(entry) * ProgressCell::kBytes, ProgressCell::kBytes));
}

void Board::reset(Generation generation, Epoch base) {
  generation_ = generation;
  std::fill(known_.begin(), known_.end(), base);
  const ProgressWords words = encode_progress(generation, base);
  for (int entry = 0; entry < size(); ++entry) cell(entry).store(words);
}

void Board::continue_from(Board& before) {
  generation_ = before.generation_;
  (void)before.reached_by_first(before.size());
  if (before.known_.size() == known_.size()) known_ = before.known_;
}

void Board::publish(RemoteRegions& peers, std::span<const int> ranks, int entry, Epoch epoch) {
  const ProgressWords words = encode_progress(generation_, epoch);
  cell(entry).store(words);
  const std::size_t offset = start_ + static_cast<std::size_t>(entry) * ProgressCell::kBytes;
  const auto each_peer = [&](auto&& act) {
    for (int other = 0; other < size() && other < static_cast<int>(ranks.size()); ++other) {
      if (other != entry) act(ranks[static_cast<std::size_t>(other)]);
    }
  };
  each_peer([&](int rank) { peers.put_words(rank, offset, words); });
  each_peer([&](int rank) { peers.flush(rank); });
}

Epoch Board::reached_by(int entry) {
  Epoch& known = known_[static_cast<std::size_t>(entry)];
  if (const auto epoch = decode_progress(cell(entry).load(), generation_)) known = std::max(known, *epoch);
  return known;
}

Epoch Board::reached_by_first(int entries) {
  if (entries == 0) return {};
  Epoch least = reached_by(0);
  for (int entry = 1; entry < entries; ++entry) least = std::min(least, reached_by(entry));
  return least;
}

}  // namespace fenix_impl
