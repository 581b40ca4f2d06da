// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/dissemination.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace fenix_impl {
namespace {

std::size_t rounds_of(int ranks) { return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks) - 1)); }

}  // namespace

std::size_t Dissemination::bytes(int ranks) { return (1 + rounds_of(ranks)) * ProgressCell::kBytes; }

std::vector<int> Dissemination::told_by(int rank, int ranks) {
  std::vector<int> told;
  for (int distance = 1; distance < ranks; distance *= 2) told.push_back((rank + distance) % ranks);
  return told;
}

Dissemination::Dissemination(std::span<std::byte> area, std::size_t start, int rank, int ranks)
    : area_(area),
      start_(start),
      rank_(rank),
      ranks_(ranks),
      heard_(rounds_of(ranks)),
      last_words_(heard_.size()),
      told_(heard_.size()),
      levels_(heard_.size() + 1),
      row_(levels_.size()),
      words_(levels_.size()) {}

ProgressCell Dissemination::cell(std::size_t index) const {
  return ProgressCell(area_.subspan(index * ProgressCell::kBytes, ProgressCell::kBytes));
}

void Dissemination::reset(Generation generation, Epoch base) {
  generation_ = generation;
  found_ = base;
  std::fill(heard_.begin(), heard_.end(), base);
  std::fill(last_words_.begin(), last_words_.end(), ProgressWords{});
  std::fill(told_.begin(), told_.end(), base);
  std::fill(levels_.begin(), levels_.end(), base);
  asked_ = {};
  const ProgressWords words = encode_progress(generation, base);
  for (std::size_t index = 0; index <= rounds(); ++index) cell(index).store(words);
}

void Dissemination::continue_from(Dissemination& before) {
  generation_ = before.generation_;
  if (!before.suits(rank_, ranks_) || before.levels_.empty()) return;
  before.listen();
  found_ = before.found_;
  heard_ = before.heard_;
  std::fill(last_words_.begin(), last_words_.end(), ProgressWords{});
  levels_ = before.levels_;
  // A note may have been overlooked: it is written again.
  cell(0).store(encode_progress(generation_, levels_[0]));
}

// Takes note of the progress that other ranks have written.
void Dissemination::listen() {
  for (std::size_t round = 0; round < rounds(); ++round) {
    const ProgressWords words = cell(1 + round).load();
    if (words != last_words_[round]) {
      last_words_[round] = words;
      if (const auto epoch = decode_progress(words, generation_)) heard_[round] = std::max(heard_[round], *epoch);
    }
    levels_[round + 1] = std::max(found_, std::min(levels_[round], heard_[round]));
  }
}

Epoch Dissemination::reached_by_all() {
  if (levels_.empty()) return {};
  listen();
  return levels_.back();
}

void Dissemination::advance(RemoteRegions& peers, Epoch epoch) {
  levels_[0] = epoch;
  cell(0).store(encode_progress(generation_, epoch));
  pass_on(peers);
}

void Dissemination::pass_on(RemoteRegions& peers) {
  listen();
  std::array<bool, 32> tells{};
  for (std::size_t round = 0; round < rounds(); ++round) {
    tells[round] = levels_[round] > told_[round];
    if (!tells[round]) continue;
    peers.put_words(rank_at(1 << round), start_ + (1 + round) * ProgressCell::kBytes,
                    encode_progress(generation_, levels_[round]));
    told_[round] = levels_[round];
  }
  for (std::size_t round = 0; round < rounds(); ++round) {
    if (tells[round]) peers.flush(rank_at(1 << round));
  }
}

// Reads the knowledge of another rank from its area.
void Dissemination::fetch_row(RemoteRegions& peers, int rank) {
  const auto direct = peers.direct(rank, start_, words_.size() * ProgressCell::kBytes);
  if (direct.empty()) {
    peers.get(rank, start_, std::as_writable_bytes(std::span(words_)));
  } else {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] = ProgressCell(direct.subspan(i * ProgressCell::kBytes, ProgressCell::kBytes)).load();
    }
  }
  const auto read = [&](std::size_t index) { return decode_progress(words_[index], generation_).value_or(Epoch{}); };
  row_[0] = read(0);
  for (std::size_t round = 0; round < rounds(); ++round) {
    row_[round + 1] = std::min(row_[round], read(1 + round));
  }
}

// Returns how many ranks, counted back from the one that knows this, have committed an epoch.
int Dissemination::known_to_have(Epoch epoch, const Levels& levels) const {
  int ranks = 0;
  for (std::size_t level = 0; level < levels.size() && levels[level] >= epoch; ++level) {
    ranks = level < rounds() ? 1 << level : ranks_;
  }
  return ranks;
}

bool Dissemination::ask(RemoteRegions& peers, int most_reads) {
  const Epoch epoch = reached_by_all().next();
  if (epoch != asked_) {
    asked_ = epoch;
    have_it_ = 0;
  }
  have_it_ = std::max(have_it_, known_to_have(epoch, levels_));
  if (have_it_ == 0) return false;
  for (int reads = 0; have_it_ < ranks_; ++reads) {
    if (reads == most_reads) return false;
    fetch_row(peers, rank_at(ranks_ - have_it_));
    const int more = known_to_have(epoch, row_);
    if (more == 0) return false;
    have_it_ += more;
  }
  found_ = epoch;
  listen();
  return true;
}

}  // namespace fenix_impl
