// SPDX-License-Identifier: BSD-3-Clause
// Places for records, in a part of a region. Which record goes where is up to the owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/log/record.hpp"

namespace fenix_impl {

/// A record and where it stands.
struct LoggedRecord {
  Record record;
  std::uint32_t entry = 0;
};

class RecordLog {
 public:
  /// Address space of an entry; how much of it is backed by memory is up to the owner of the region.
  static constexpr std::size_t kEntryBytes = std::size_t{1} << 20;

  RecordLog() = default;
  /// start: offset of area in its region.
  RecordLog(std::span<std::byte> area, std::size_t start) : area_(area), start_(start) {}

  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(area_.size() / kEntryBytes); }
  /// Offset of an entry from the start of the region.
  [[nodiscard]] std::size_t offset(std::uint32_t entry) const { return start_ + entry * kEntryBytes; }
  [[nodiscard]] std::span<std::byte> entry(std::uint32_t entry) const {
    return area_.subspan(entry * kEntryBytes, kEntryBytes);
  }

  /// The record in an entry, if it is there and checks out.
  [[nodiscard]] std::optional<Record> read(std::uint32_t entry) const;
  /// All records that check out, oldest first. Of two with the same epoch, the one that says "deleted".
  [[nodiscard]] std::vector<LoggedRecord> read_all() const;

  /// Writes the record without its seal; returns its bytes. A record that was in its entry is void from here on.
  std::span<const std::byte> write_unsealed(std::uint32_t entry, const Record& record) const;
  /// Makes the record of an epoch valid.
  void seal(std::uint32_t entry, Epoch epoch) const;
  /// The record counts from here on: what it is about has to be in place.
  void put(std::uint32_t entry, const Record& record) const;
  /// Makes the record in an entry void.
  void clear(std::uint32_t entry) const;
  /// Makes all records void but those of the given epochs, and those before `oldest`. Of a deleted epoch that is not among them, nothing is left: not
  /// the record that it had before either. A record without a seal is wiped out: a seal that is still on its way from a rank
  /// that has died finds nothing then.
  void clear_all_but(std::span<const Epoch> epochs, Epoch oldest = {}) const;

 private:
  void set_seal(std::uint32_t entry, std::uint64_t word) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
};

}  // namespace fenix_impl
