// SPDX-License-Identifier: BSD-3-Clause
// Entries of a journal as they are in memory, and the way to read them. docs/journal-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "interposition/signature.hpp"

namespace fenix_impl {

namespace journal_format {
/// Positions and sizes in a ring are multiples of it.
constexpr std::size_t kUnit = 64;
constexpr std::size_t kHeadBytes = 64;
constexpr std::uint16_t kVersion = 1;
}  // namespace journal_format

enum class EntryKind : std::uint16_t {
  message = 1,
  jump = 2,  ///< has no payload; the next entry is at position 0
};

/// First bytes of an entry. The payload follows.
struct EntryHead {
  std::uint64_t seal = 0;      ///< written last; makes the entry valid
  std::uint64_t sequence = 0;  ///< of entries in the ring: each has one more than the one before
  std::uint64_t bytes = 0;     ///< of the payload
  std::uint64_t hash = 0;      ///< of the payload
  Signature signature;
  std::uint64_t number = 0;  ///< of messages of the owner; a copy within the ring has the number of the original
  std::uint16_t version = journal_format::kVersion;
  EntryKind kind = EntryKind::message;
  std::uint32_t depth = 1;  ///< newest messages of the signature that are kept

  bool operator==(const EntryHead&) const = default;
};
static_assert(sizeof(EntryHead) == journal_format::kHeadBytes);

/// An entry and its place in the ring.
struct Entry {
  EntryHead head;
  std::size_t position = 0;  ///< of the head, in bytes

  [[nodiscard]] std::size_t payload() const { return position + journal_format::kHeadBytes; }
};

/// Returns the bytes that an entry takes up in the ring.
[[nodiscard]] constexpr std::size_t entry_bytes(std::size_t payload) {
  using journal_format::kUnit;
  return journal_format::kHeadBytes + (payload + kUnit - 1) / kUnit * kUnit;
}

/// Returns the seal of an entry at a position. Never 0.
[[nodiscard]] std::uint64_t seal_of(const EntryHead& head, std::size_t position);

/// The beginning of the chain of entries, in one word: position and sequence of the oldest one.
[[nodiscard]] constexpr std::uint64_t chain_start(std::size_t position, std::uint64_t sequence) {
  return static_cast<std::uint64_t>(position / journal_format::kUnit) << 32U | (sequence & 0xFFFFFFFFU);
}

/// Largest ring: positions of units have 32 bits.
constexpr std::size_t kMostRingBytes = journal_format::kUnit << 32U;

/// Reads bytes of a ring from a position on. Reads nothing beyond its end.
using ReadRing = std::function<void(std::size_t position, std::span<std::byte> to)>;

/// Returns the valid entries from the start of a chain on, oldest first, up to the first one that is not valid. Any bytes may be
/// there. Payloads are not read.
[[nodiscard]] std::vector<Entry> read_chain(const ReadRing& read, std::size_t capacity, std::uint64_t start);

}  // namespace fenix_impl
