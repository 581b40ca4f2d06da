// SPDX-License-Identifier: BSD-3-Clause
#include "core/record_log.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace fenix_impl {

std::optional<Record> RecordLog::read(Epoch epoch) const {
  auto record = decode(place(epoch));
  if (record && record->epoch != epoch) return std::nullopt;
  return record;
}

std::vector<Record> RecordLog::read_all() const {
  std::vector<Record> records;
  for (std::size_t i = 0; i < places(); ++i) {
    auto record = decode(area_.subspan(i * kPlaceBytes, kPlaceBytes));
    if (record && index(record->epoch) == i) records.push_back(std::move(*record));
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.epoch < b.epoch; });
  return records;
}

std::span<const std::byte> RecordLog::write_unsealed(const Record& record) const {
  clear(record.epoch);
  const auto bytes = place(record.epoch);
  return bytes.first(encode(record, bytes));
}

void RecordLog::seal(Epoch epoch) const { set_seal(epoch, record_seal(epoch)); }

void RecordLog::clear(Epoch epoch) const { set_seal(epoch, 0); }

void RecordLog::set_seal(Epoch epoch, std::uint64_t word) const {
  auto* place_word = reinterpret_cast<std::uint64_t*>(place(epoch).data());
  std::atomic_ref(*place_word).store(word, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace fenix_impl
