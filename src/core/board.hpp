// SPDX-License-Identifier: BSD-3-Clause
// How far each rank of a group has committed, as this rank knows it: peers write their progress into this rank's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

class Board {
 public:
  static constexpr std::size_t kEntryBytes = 16;

  Board() = default;
  /// area: kEntryBytes for each rank; start: its offset in the region that the peers see, the same on all ranks.
  Board(std::span<std::byte> area, std::size_t start) : area_(area), start_(start), known_(area.size() / kEntryBytes) {}

  [[nodiscard]] int size() const { return static_cast<int>(area_.size() / kEntryBytes); }
  /// Takes over what another board knew, which nobody may write to meanwhile.
  void continue_from(Board& before);
  /// Sets all entries: nobody may publish meanwhile. What is written for another generation does not count.
  void reset(Generation generation, Epoch base);
  /// Notes own progress in an entry, and tells those peers: ranks has the rank of each entry.
  void publish(Exposure& peers, std::span<const int> ranks, int entry, Epoch epoch);
  /// The same where entries are ranks.
  void publish(Exposure& peers, int self, Epoch epoch);
  /// The epoch that every rank is known to have committed. Never goes back between two resets.
  [[nodiscard]] Epoch reached_by_all();
  /// The same of so many entries.
  [[nodiscard]] Epoch reached_by_first(int entries);

 private:
  std::uint64_t note(int entry, Epoch epoch);
  void tell(Exposure& peers, int rank, int entry, std::uint64_t word) const;
  [[nodiscard]] Epoch reached_by(int rank);
  [[nodiscard]] std::uint64_t* words(int rank) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
  Generation generation_;
  std::vector<Epoch> known_;  // of each rank: a word that is just being written cannot be read
};

}  // namespace fenix_impl
