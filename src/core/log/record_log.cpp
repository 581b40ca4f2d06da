// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/record_log.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace fenix_impl {

std::optional<Record> RecordLog::read(std::uint32_t entry) const { return decode(this->entry(entry)); }

std::vector<LoggedRecord> RecordLog::read_all() const {
  std::vector<LoggedRecord> records;
  for (std::uint32_t entry = 0; entry < entries(); ++entry) {
    if (auto record = read(entry)) records.push_back({std::move(*record), entry});
  }
  std::sort(records.begin(), records.end(), [](const LoggedRecord& a, const LoggedRecord& b) {
    return a.record.epoch != b.record.epoch ? a.record.epoch < b.record.epoch : a.record.deleted > b.record.deleted;
  });
  const auto same_epoch = [](const LoggedRecord& a, const LoggedRecord& b) { return a.record.epoch == b.record.epoch; };
  records.erase(std::unique(records.begin(), records.end(), same_epoch), records.end());
  return records;
}

std::span<const std::byte> RecordLog::write_unsealed(std::uint32_t entry, const Record& record) const {
  clear(entry);
  const auto bytes = this->entry(entry);
  return bytes.first(encode(record, bytes));
}

void RecordLog::seal(std::uint32_t entry, Epoch epoch) const { set_seal(entry, record_seal(epoch)); }

void RecordLog::put(std::uint32_t entry, const Record& record) const {
  (void)write_unsealed(entry, record);
  seal(entry, record.epoch);
}

void RecordLog::clear(std::uint32_t entry) const { set_seal(entry, 0); }

bool RecordLog::is_sealed(std::uint32_t entry) const {
  auto* place_word = reinterpret_cast<std::uint64_t*>(this->entry(entry).data());
  return std::atomic_ref(*place_word).load(std::memory_order_acquire) != 0;
}

void RecordLog::clear_all_but(std::span<const Epoch> epochs, Epoch oldest) const {
  for (std::uint32_t entry = 0; entry < entries(); ++entry) {
    const auto record = read(entry);
    if (record && record->epoch < oldest) continue;
    if (record && std::find(epochs.begin(), epochs.end(), record->epoch) != epochs.end()) continue;
    // An entry that was never written may have no memory yet: it is not written here either.
    const auto head = this->entry(entry).first(record_format::kHeadBytes);
    if (std::all_of(head.begin(), head.end(), [](std::byte each) { return each == std::byte{0}; })) continue;
    clear(entry);
    const auto behind_seal = head.subspan(record_format::kSealBytes);
    std::fill(behind_seal.begin(), behind_seal.end(), std::byte{0});
  }
}

void RecordLog::set_seal(std::uint32_t entry, std::uint64_t word) const {
  auto* place_word = reinterpret_cast<std::uint64_t*>(this->entry(entry).data());
  std::atomic_ref(*place_word).store(word, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace fenix_impl
