// SPDX-License-Identifier: BSD-3-Clause
// One record of the metadata log: the commit of a rank under one epoch. docs/log-format.md describes the format and
// cites the constants below; they are never renumbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/interval_set.hpp"
#include "base/types.hpp"

namespace fenix_impl {

/// The data of a member in one snapshot. The slot also has the elements of older snapshots: found is all of them.
struct MemberVersion {
  std::int32_t member_id = 0;
  std::uint32_t slot = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t size = 0;  ///< elements that the snapshot has, or should have: found may lack some, and go beyond
  Epoch stored_in;         ///< epoch whose commit first had this version; later ones carry it on
  std::uint64_t hash = 0;  ///< of the slot's hash table (base/simd/slot_hashes.hpp)
  IntervalSet found;       ///< elements with a value

  bool operator==(const MemberVersion&) const = default;
  /// Returns the bytes of the slot up to the last element with a value.
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
  /// Returns the version of a member, or null.
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

/// Returns the bytes of a record of so many members whose elements are in so many intervals.
[[nodiscard]] std::size_t record_bytes(std::size_t members, std::size_t intervals);
[[nodiscard]] std::size_t record_bytes(const Record& record);

/// Returns the word that makes the record of an epoch valid once all its other bytes are in place. Never 0.
[[nodiscard]] std::uint64_t record_seal(Epoch epoch);

/// Writes the record, unsealed, and returns its length. out must have room for record_bytes(record).
std::size_t encode(const Record& record, std::span<std::byte> out);

/// Returns the length that the head of a record names: at least kHeadBytes, at most available; nullopt if the head
/// cannot be one. head: any bytes, at least kHeadBytes of them.
[[nodiscard]] std::optional<std::size_t> length_in_head(std::span<const std::byte> head, std::size_t available);

/// Returns the epoch that the head of a record names: any number, if it is none.
[[nodiscard]] Epoch epoch_in_head(std::span<const std::byte> head);

/// Reads a record. Returns nullopt unless it is sealed, complete and consistent in itself. Any bytes may be given.
[[nodiscard]] std::optional<Record> decode(std::span<const std::byte> bytes);
/// Reads into a record whose memory is used again. Returns false instead of nullopt; the record may have any contents
/// then.
[[nodiscard]] bool decode(std::span<const std::byte> bytes, Record& record);

}  // namespace fenix_impl
