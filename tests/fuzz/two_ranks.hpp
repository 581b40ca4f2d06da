// SPDX-License-Identifier: BSD-3-Clause
// The memory of two ranks that keep each other's records, written to as an input says.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/log/record_log.hpp"
#include "core/member/member.hpp"
#include "fuzz/support.hpp"
#include "rma/path.hpp"

namespace fuzz {

/// Regions of other ranks. An access outside of them would go astray on some paths, so none may be tried.
class Regions final : public fenix_impl::RemoteRegions {
 public:
  explicit Regions(std::vector<std::span<std::byte>> regions) : regions_(std::move(regions)) {}

  std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) override {
    return part(target, offset, bytes);
  }
  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    std::copy(data.begin(), data.end(), part(target, offset, data.size()).begin());
  }
  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    const auto from = part(target, offset, data.size());
    std::copy(from.begin(), from.end(), data.begin());
  }
  void flush(int) override {}
  bool is_flushed(int) override { return true; }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    put(target, offset, std::as_bytes(words));
  }

 private:
  [[nodiscard]] std::span<std::byte> part(int target, std::size_t offset, std::size_t bytes) const {
    require(target >= 0 && static_cast<std::size_t>(target) < regions_.size(), "a rank that is accessed");
    const auto region = regions_[static_cast<std::size_t>(target)];
    require(offset <= region.size() && bytes <= region.size() - offset, "an access lies in its region");
    return region.subspan(offset, bytes);
  }

  std::vector<std::span<std::byte>> regions_;
};

class TwoRanks {
 public:
  static constexpr std::uint32_t kEntries = 3;
  static constexpr std::uint32_t kSlots = 3;
  static constexpr std::uint64_t kSlotBytes = 512;
  static constexpr std::uint32_t kElementBytes = 8;
  static constexpr std::size_t kLogBytes = kEntries * fenix_impl::RecordLog::kEntryBytes;

  /// where: rank, log, entry, and whether the record is to be made one that counts.
  void write(std::uint8_t where, std::span<const std::byte> bytes) {
    const int rank = where & 1;
    const auto& log = (where & 2) != 0 ? held_log(rank) : own_log(rank);
    const std::uint32_t entry = (where >> 2 & 3) % kEntries;
    const Bytes record = (where & 16) != 0 ? Bytes(bytes.begin(), bytes.end()) : sealed_record(bytes);
    const auto to = log.entry(entry).first(record.size());
    std::copy(record.begin(), record.end(), to.begin());
    written_.push_back(to);
  }
  void wipe() {
    for (const auto& each : written_) std::fill(each.begin(), each.end(), std::byte{});
    written_.clear();
  }

  [[nodiscard]] fenix_impl::RecordLog own_log(int rank) const { return log(rank, 0); }
  [[nodiscard]] fenix_impl::RecordLog held_log(int rank) const { return log(rank, kLogBytes); }
  [[nodiscard]] std::vector<std::span<std::byte>> control() const { return {area(0), area(1)}; }
  [[nodiscard]] std::vector<std::span<std::byte>> data(std::size_t bytes) const {
    const std::span all(*data_);
    return {all.first(bytes), all.last(bytes)};
  }
  [[nodiscard]] const fenix_impl::MemberInfo& member() const { return member_; }
  [[nodiscard]] const fenix_impl::Counts& counts() const { return counts_; }

 private:
  using Area = std::array<std::uint64_t, 2 * kLogBytes / sizeof(std::uint64_t)>;

  [[nodiscard]] std::span<std::byte> area(int rank) const {
    return std::as_writable_bytes(std::span(*areas_[static_cast<std::size_t>(rank)]));
  }
  [[nodiscard]] fenix_impl::RecordLog log(int rank, std::size_t start) const {
    return {area(rank).subspan(start, kLogBytes), start};
  }

  std::array<std::unique_ptr<Area>, 2> areas_{std::make_unique<Area>(), std::make_unique<Area>()};
  std::unique_ptr<std::array<std::byte, 1 << 16>> data_ = std::make_unique<std::array<std::byte, 1 << 16>>();
  std::vector<std::span<std::byte>> written_;
  fenix_impl::MemberInfo member_{
      1, false, {0}, std::make_shared<const fenix_impl::ElementType>(fenix_impl::ElementType::plain(kElementBytes))};
  fenix_impl::Counts counts_{{0, kSlotBytes / kElementBytes}, {1, kSlotBytes / kElementBytes}};
};

}  // namespace fuzz
