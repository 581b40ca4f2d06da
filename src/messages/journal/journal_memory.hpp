// SPDX-License-Identifier: BSD-3-Clause
// The region of a journal on one rank: the own ring, and the rings that the rank holds for others. docs/journal-format.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/journal/entry.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// The same on all ranks.
struct JournalParameters {
  static constexpr std::int32_t kMostCopies = 3;

  std::uint64_t ring_bytes = 0;  ///< of each ring, a multiple of the unit
  std::int32_t copies = 0;       ///< of each ring on other ranks, at most kMostCopies
  std::int32_t separation = 1;   ///< from the number of a rank to that of its first holder, and so on

  bool operator==(const JournalParameters&) const = default;
};

/// Places in the region. Ring 0 is the own one, the others are held ones.
class JournalLayout {
 public:
  JournalLayout() = default;
  explicit JournalLayout(const JournalParameters& parameters) : parameters_(parameters) {}

  /// Returns the bytes of the region behind the header of the class Region.
  [[nodiscard]] std::size_t bytes() const { return ring(parameters_.copies + 1) - Region::kHeaderBytes; }
  /// Returns the offset in the region of the word that says where the chain of a ring begins.
  [[nodiscard]] std::size_t start(int ring) const { return control(ring); }
  /// Returns the offset of the word that says whose a held ring is: slot + 1, or 0.
  [[nodiscard]] std::size_t owner(int ring) const { return control(ring) + sizeof(std::uint64_t); }
  /// Returns the offset of the word of a witness, by its distance from a rank, from 1 on: that rank's slot + 1 if it cannot be made
  /// anew without its journal, or 0.
  [[nodiscard]] static std::size_t witness(int distance) {
    return kWitnesses + static_cast<std::size_t>(distance) * sizeof(std::uint64_t);
  }
  static constexpr int kMostWitnesses = 16;
  /// Returns the offset of a ring.
  [[nodiscard]] std::size_t ring(int ring) const {
    return kRings + static_cast<std::size_t>(ring) * parameters_.ring_bytes;
  }

 private:
  static constexpr std::size_t kRings = 4096;
  static constexpr std::size_t kWitnesses = 2048;

  [[nodiscard]] static std::size_t control(int ring) {
    return Region::kHeaderBytes + journal_format::kUnit * (static_cast<std::size_t>(ring) + 1);
  }

  JournalParameters parameters_;
};

/// The memory of this rank. Memory of the system is taken as it is needed.
class JournalMemory {
 public:
  /// The system is asked for more than is needed now: to ask takes a while.
  static constexpr std::size_t kReservedAtOnce = std::size_t{1} << 20;

  JournalMemory() = default;
  /// Throws Error(FENIX_ERROR_NO_MEMORY).
  explicit JournalMemory(const JournalParameters& parameters);

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] const JournalLayout& layout() const { return layout_; }
  [[nodiscard]] std::span<std::byte> own_ring() const { return region_.bytes().subspan(layout_.ring(0), ring_bytes_); }
  /// Returns bytes of the own ring as they are before any entry is in them.
  [[nodiscard]] ReadRing reader(int ring) const;
  /// Makes sure that the own ring has memory up to a position. Throws Error(FENIX_ERROR_NO_MEMORY).
  void reserve(std::size_t end);

  [[nodiscard]] std::uint64_t word(std::size_t offset) const;
  /// Writes a word that other ranks see all at once.
  void set_word(std::size_t offset, std::uint64_t word);

 private:
  JournalLayout layout_;
  std::size_t ring_bytes_ = 0;
  std::size_t reserved_ = 0;
  Region region_;
};

}  // namespace fenix_impl
