// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/record_log.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace fenix_impl {

std::optional<Record> RecordLog::read(std::uint32_t place) const { return decode(this->place(place)); }

std::vector<PlacedRecord> RecordLog::read_all() const {
  std::vector<PlacedRecord> records;
  for (std::uint32_t place = 0; place < places(); ++place) {
    if (auto record = read(place)) records.push_back({std::move(*record), place});
  }
  std::sort(records.begin(), records.end(), [](const PlacedRecord& a, const PlacedRecord& b) {
    return a.record.epoch != b.record.epoch ? a.record.epoch < b.record.epoch : a.record.deleted > b.record.deleted;
  });
  const auto same_epoch = [](const PlacedRecord& a, const PlacedRecord& b) { return a.record.epoch == b.record.epoch; };
  records.erase(std::unique(records.begin(), records.end(), same_epoch), records.end());
  return records;
}

std::span<const std::byte> RecordLog::write_unsealed(std::uint32_t place, const Record& record) const {
  clear(place);
  const auto bytes = this->place(place);
  return bytes.first(encode(record, bytes));
}

void RecordLog::seal(std::uint32_t place, Epoch epoch) const { set_seal(place, record_seal(epoch)); }

void RecordLog::put(std::uint32_t place, const Record& record) const {
  (void)write_unsealed(place, record);
  seal(place, record.epoch);
}

void RecordLog::clear(std::uint32_t place) const { set_seal(place, 0); }

void RecordLog::clear_all_but(std::span<const Epoch> epochs, Epoch oldest) const {
  for (std::uint32_t place = 0; place < places(); ++place) {
    const auto record = read(place);
    if (record && record->epoch < oldest) continue;
    if (record && std::find(epochs.begin(), epochs.end(), record->epoch) != epochs.end()) continue;
    // A place that was never written to may have no memory yet: it is not written to here either.
    const auto head = this->place(place).first(record_format::kHeadBytes);
    if (std::all_of(head.begin(), head.end(), [](std::byte each) { return each == std::byte{0}; })) continue;
    clear(place);
    const auto behind_seal = head.subspan(record_format::kSealBytes);
    std::fill(behind_seal.begin(), behind_seal.end(), std::byte{0});
  }
}

void RecordLog::set_seal(std::uint32_t place, std::uint64_t word) const {
  auto* place_word = reinterpret_cast<std::uint64_t*>(this->place(place).data());
  std::atomic_ref(*place_word).store(word, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace fenix_impl
