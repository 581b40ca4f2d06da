// SPDX-License-Identifier: BSD-3-Clause
// Entries for records, in a part of a region. The owner decides which record goes where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/log/record.hpp"

namespace fenix_impl {

/// A record and the entry of the log in which it stands.
struct LoggedRecord {
  Record record;
  std::uint32_t entry = 0;
};

class RecordLog {
 public:
  /// Address space of an entry. The owner of the region decides how much of it is backed by memory.
  static constexpr std::size_t kEntryBytes = std::size_t{1} << 20;
  /// The least that it can be, where all address space of a region is backed by memory.
  static constexpr std::size_t kLeastEntryBytes = std::size_t{64} << 10;

  RecordLog() = default;
  /// Uses memory of a region. start: offset of area in it.
  RecordLog(std::span<std::byte> area, std::size_t start, std::size_t entry_bytes = kEntryBytes)
      : area_(area), start_(start), entry_bytes_(entry_bytes) {}

  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(area_.size() / entry_bytes_); }
  /// Returns the most bytes that a record can have.
  [[nodiscard]] std::size_t entry_bytes() const { return entry_bytes_; }
  /// Returns the offset of an entry from the start of the region.
  [[nodiscard]] std::size_t offset(std::uint32_t entry) const { return start_ + entry * entry_bytes_; }
  [[nodiscard]] std::span<std::byte> entry(std::uint32_t entry) const {
    return area_.subspan(entry * entry_bytes_, entry_bytes_);
  }

  /// Returns the record in an entry, if there is a valid one.
  [[nodiscard]] std::optional<Record> read(std::uint32_t entry) const;
  /// Whether there is a seal in an entry, whatever it seals.
  [[nodiscard]] bool is_sealed(std::uint32_t entry) const;
  /// Returns all valid records, oldest first. If two have the same epoch, the one that says "deleted".
  [[nodiscard]] std::vector<LoggedRecord> read_all() const;

  /// Writes the record without its seal, and returns its bytes. The record that was in the entry is void from here on.
  std::span<const std::byte> write_unsealed(std::uint32_t entry, const Record& record) const;
  /// Makes the record of an epoch valid.
  void seal(std::uint32_t entry, Epoch epoch) const;
  /// Writes a record that counts from here on: the data that it describes has to be in place.
  void put(std::uint32_t entry, const Record& record) const;
  /// Makes the record in an entry void.
  void clear(std::uint32_t entry) const;
  /// Makes all records void except those of the given epochs and those before `oldest`. A deleted epoch that is not
  /// among them leaves no trace: the record before its deletion goes as well. A record without a seal is wiped out: a
  /// seal that is still on its way from a dead rank then finds nothing.
  void clear_all_but(std::span<const Epoch> epochs, Epoch oldest = {}) const;

 private:
  void set_seal(std::uint32_t entry, std::uint64_t word) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
  std::size_t entry_bytes_ = kEntryBytes;
};

}  // namespace fenix_impl
