// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/commit_log.hpp"

#include <algorithm>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/lowest_free.hpp"

namespace fenix_impl {
bool contains(std::span<const Epoch> epochs, Epoch epoch) {
  return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end();
}

// ------------------------------------------------------------------------------------------------------------- queries

const LoggedRecord* CommitLog::latest() const {
  const auto found =
      std::find_if(records_.rbegin(), records_.rend(), [](const LoggedRecord& each) { return !each.record.deleted; });
  return found == records_.rend() ? nullptr : &*found;
}

const LoggedRecord* CommitLog::at(Epoch epoch) const {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const LoggedRecord& each) {
    return each.record.epoch == epoch && !each.record.deleted;
  });
  return found == records_.end() ? nullptr : &*found;
}

bool CommitLog::has_gaps() const {
  if (records_.empty() || records_.back().record.epoch != last_) return !last_.none();
  Epoch epoch = records_.front().record.epoch;
  for (const LoggedRecord& logged : records_) {
    if (logged.record.deleted || logged.record.epoch != epoch) return true;
    epoch = epoch.next();
  }
  return records_.size() < std::min<std::uint64_t>(parameters_.kept_snapshots(), last_.value);
}

std::vector<Epoch> CommitLog::own_snapshots() const {
  std::vector<Epoch> epochs;
  for (const LoggedRecord& logged : records_) {
    if (!logged.record.deleted && logged.record.epoch >= oldest_own_) epochs.push_back(logged.record.epoch);
  }
  return epochs;
}

// -------------------------------------------------------------------------------------------------------------- memory

std::optional<std::uint32_t> CommitLog::free_entry(std::size_t to_spare) const {
  if (records_.size() + to_spare >= memory_.entries()) return std::nullopt;
  used_.clear();
  for (const LoggedRecord& logged : records_) used_.push_back(logged.entry);
  return lowest_free(memory_.entries(), used_);
}

// ------------------------------------------------------------------------------------------------------------- commits

Record CommitLog::begin_record(Epoch epoch) {
  std::vector<MemberVersion> versions;
  if (!spare_versions_.empty()) {
    versions = std::move(spare_versions_.back());
    spare_versions_.pop_back();
    versions.clear();
  }
  return {epoch,          generation_,        parameters_.time_stamp_of(epoch),
          parameters_.id, ranks_.rank,        oldest_kept_with(epoch),
          false,          std::move(versions)};
}

Epoch CommitLog::oldest_kept_with(Epoch epoch) const {
  Epoch oldest = epoch;
  std::size_t kept = 1;
  for (auto logged = records_.rbegin(); logged != records_.rend() && kept < parameters_.kept_snapshots(); ++logged) {
    if (logged->record.deleted) continue;
    oldest = logged->record.epoch;
    ++kept;
  }
  return oldest;
}

void CommitLog::prepare_append() {
  if (records_.size() == records_.capacity()) records_.reserve(2 * records_.size() + 1);
  spare_versions_.reserve(records_.capacity());
}

void CommitLog::append(LoggedRecord&& logged) noexcept {
  last_ = logged.record.epoch;
  records_.push_back(std::move(logged));
  has_lost_data_ = false;
  note_oldest_own();
}

void CommitLog::note_oldest_own() noexcept {
  std::size_t own = 0;
  for (auto logged = records_.rbegin(); logged != records_.rend(); ++logged) {
    if (logged->record.deleted || ++own < parameters_.kept_snapshots()) continue;
    oldest_own_ = std::max(oldest_own_, logged->record.epoch);
    return;
  }
}

bool CommitLog::forget_old() {
  const Epoch on_all = known_on_all();
  std::size_t live = 0;
  bool newer = false;
  for (auto logged = records_.rbegin(); logged != records_.rend(); ++logged) {
    if (logged->record.epoch > on_all) continue;
    // The deletion of a snapshot has to be known as long as it is the newest one on all ranks.
    const bool old = logged->record.deleted ? newer : ++live > parameters_.kept_snapshots();
    newer = true;
    if (old) logged->record.epoch = {};
  }
  for (LoggedRecord& logged : records_) {
    const bool has_room = spare_versions_.size() < spare_versions_.capacity();
    if (logged.record.epoch.none() && has_room) spare_versions_.push_back(std::move(logged.record.members));
  }
  std::erase_if(records_, [](const LoggedRecord& logged) { return logged.record.epoch.none(); });
  return newer;
}

void CommitLog::void_forgotten() {
  Control& control = memory_.control();
  for (std::uint32_t entry = 0; entry < control.own_log.entries(); ++entry) {
    const bool is_needed =
        std::any_of(records_.begin(), records_.end(), [&](const LoggedRecord& each) { return each.entry == entry; });
    if (!is_needed && control.own_log.is_sealed(entry)) {
      control.clear_record(ranks_.placement, ranks_.rank, entry);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ deletion

void CommitLog::replace_by_tombstone(LoggedRecord& logged) {
  const Record& record = logged.record;
  Record tombstone{
      record.epoch, record.generation, record.time_stamp, record.group_id, record.owner, record.oldest_kept, true, {}};
  const std::uint32_t entry = free_entry(0).value();
  memory_.control().write_record(ranks_.placement, ranks_.rank, tombstone, entry);
  const std::uint32_t before = std::exchange(logged.entry, entry);
  logged.record = std::move(tombstone);
  fault_point("delete.written");
  memory_.control().clear_record(ranks_.placement, ranks_.rank, before);
  fault_point("delete.done");
}

// --------------------------------------------------------------------------------------------------- damage, taking up

std::uint64_t CommitLog::mend_own() {
  std::uint64_t mended = 0;
  for (const auto& [record, entry] : records_) {
    if (memory_.control().own_log.read(entry) == record) continue;
    log().warn("group {}: the record of time stamp {} is damaged, making it anew", parameters_.id, record.time_stamp);
    memory_.control().own_log.put(entry, record);
    ++mended;
  }
  return mended;
}

void CommitLog::seal_own(Epoch epoch, std::uint32_t entry) {
  if (at(epoch) != nullptr) return;
  memory_.control().own_log.seal(entry, epoch);
  auto record = memory_.control().own_log.read(entry);
  if (!record || record->epoch != epoch) return;
  prepare_append();
  append({std::move(*record), entry});
}

void CommitLog::keep_only(std::span<const Epoch> epochs, Epoch oldest) {
  memory_.control().own_log.clear_all_but(epochs, oldest);
  // Records that are void now must not be taken for damaged ones.
  std::erase_if(records_, [&](const LoggedRecord& logged) {
    return logged.record.epoch >= oldest && !contains(epochs, logged.record.epoch);
  });
  fault_point("rejoin.half_voided");
  for (const RecordLog& log : memory_.control().held_logs) log.clear_all_but(epochs, oldest);
}

void CommitLog::begin_anew(Generation generation, Epoch base) {
  generation_ = generation;
  keep_only({});
  records_.clear();
  oldest_own_ = {};
  last_ = base;
  memory_.control().commits.reset(generation, base);
}

void CommitLog::resume(Generation generation, Epoch base, std::span<const Epoch> epochs) {
  generation_ = generation;
  keep_only(epochs);
  records_.clear();
  for (LoggedRecord& logged : memory_.control().own_log.read_all()) {
    if (contains(epochs, logged.record.epoch)) records_.push_back(std::move(logged));
  }
  oldest_own_ = {};
  last_ = base;
  memory_.control().commits.reset(generation, base);
  memory_.control().announced.reset(generation, {});
  memory_.control().finished.reset(generation, {});
}

void CommitLog::clear() {
  records_.clear();
  oldest_own_ = {};
  last_ = {};
  memory_.control() = {};
}

}  // namespace fenix_impl
