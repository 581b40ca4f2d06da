// SPDX-License-Identifier: BSD-3-Clause
// A ring of places for records, in a part of a region: the record of an epoch has the place epoch mod places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/record.hpp"

namespace fenix_impl {

class RecordLog {
 public:
  /// Address space of a place; how much of it is backed by memory is up to the owner of the region.
  static constexpr std::size_t kPlaceBytes = std::size_t{1} << 20;

  RecordLog() = default;
  /// start: offset of area in its region.
  RecordLog(std::span<std::byte> area, std::size_t start) : area_(area), start_(start) {}

  [[nodiscard]] std::size_t places() const { return area_.size() / kPlaceBytes; }
  /// Offset of the place of an epoch from the start of the region.
  [[nodiscard]] std::size_t offset(Epoch epoch) const { return start_ + index(epoch) * kPlaceBytes; }
  /// The bytes of the place of an epoch.
  [[nodiscard]] std::span<std::byte> place(Epoch epoch) const {
    return area_.subspan(index(epoch) * kPlaceBytes, kPlaceBytes);
  }

  /// The record of an epoch, if it is there and checks out.
  [[nodiscard]] std::optional<Record> read(Epoch epoch) const;
  /// All records that check out and stand where they belong, oldest first.
  [[nodiscard]] std::vector<Record> read_all() const;

  /// Writes the record without its seal; returns its bytes. A record that was in its place is void from here on.
  std::span<const std::byte> write_unsealed(const Record& record) const;
  /// Makes the record of an epoch valid.
  void seal(Epoch epoch) const;
  /// Makes the record in the place of an epoch void.
  void clear(Epoch epoch) const;

 private:
  [[nodiscard]] std::size_t index(Epoch epoch) const { return epoch.value % places(); }
  void set_seal(Epoch epoch, std::uint64_t word) const;

  std::span<std::byte> area_;
  std::size_t start_ = 0;
};

}  // namespace fenix_impl
