// SPDX-License-Identifier: BSD-3-Clause
// One entry of the metadata log: what a rank has committed under one epoch. The format is described in docs/log-format.md,
// which cites the constants below; they are never renumbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/interval_set.hpp"
#include "base/types.hpp"

namespace fenix_impl {

/// A member's data as one snapshot has it. The slot also has what older snapshots had: found is all of it.
struct MemberVersion {
  std::int32_t member_id = 0;
  std::uint32_t slot = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t size = 0;  ///< elements that the snapshot has, or should have: found may lack some, and go beyond
  Epoch stored_in;         ///< epoch whose commit first had this version; later ones carry it on
  std::uint64_t hash = 0;  ///< of the slot's hash table (core/slot_hashes.hpp)
  IntervalSet found;       ///< elements with a value

  bool operator==(const MemberVersion&) const = default;
  /// Bytes of the slot up to the last element with a value.
  [[nodiscard]] std::uint64_t bytes() const { return found.end() * element_bytes; }
};

struct Record {
  Epoch epoch;
  Generation generation;
  std::int32_t time_stamp = 0;
  std::int32_t group_id = 0;
  std::int32_t owner = 0;  ///< team rank of the rank that committed
  Epoch oldest_kept;       ///< oldest epoch that the owner keeps once this one is on all ranks
  bool deleted = false;    ///< the owner has deleted the snapshot: the record only says that it was committed
  std::vector<MemberVersion> members;

  bool operator==(const Record&) const = default;
  /// The version of a member, or null.
  [[nodiscard]] const MemberVersion* find(std::int32_t member_id) const;
};

namespace record_format {
constexpr std::uint32_t kMagic = 0x58494e46;  // "FNIX"
constexpr std::uint16_t kVersion = 2;
constexpr std::size_t kSealBytes = 8;
constexpr std::size_t kHeadBytes = 80;
constexpr std::size_t kMemberBytes = 64;
constexpr std::size_t kIntervalBytes = 16;
constexpr std::uint32_t kDeleted = 1;  // flag
}  // namespace record_format

/// Bytes of a record of so many members whose elements are in so many intervals.
[[nodiscard]] std::size_t record_bytes(std::size_t members, std::size_t intervals);
[[nodiscard]] std::size_t record_bytes(const Record& record);

/// The word that makes the record of an epoch valid once all its other bytes are in place. Never 0.
[[nodiscard]] std::uint64_t record_seal(Epoch epoch);

/// Writes the record, unsealed, and returns its length. out must have room for record_bytes(record).
std::size_t encode(const Record& record, std::span<std::byte> out);

/// The length that the head of a record names, if it can be one: at least kHeadBytes, at most available. Of any bytes, at
/// least kHeadBytes of them.
[[nodiscard]] std::optional<std::size_t> length_in_head(std::span<const std::byte> head, std::size_t available);

/// Reads a record. nullopt unless it is sealed, whole and consistent in itself; any bytes may be given.
[[nodiscard]] std::optional<Record> decode(std::span<const std::byte> bytes);
/// The same into a record whose memory is used again; false instead of nullopt, with any contents then.
[[nodiscard]] bool decode(std::span<const std::byte> bytes, Record& record);

}  // namespace fenix_impl
