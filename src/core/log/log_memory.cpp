// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/log_memory.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fenix_impl {
namespace {

// Commits without stores may run ahead of the slowest rank by a few epochs before they have to wait for it.
constexpr std::uint32_t kSpareEntries = 7;

}  // namespace

Control LogMemory::replace_control(Control control) {
  std::swap(control_, control);
  return control;
}

std::uint32_t LogMemory::entries() const {
  return control_.own_log.entries() > 0 ? control_.own_log.entries() : first_entries();
}

std::uint32_t LogMemory::first_entries() const { return parameters_.first_slots() - 1 + kSpareEntries; }

std::size_t LogMemory::entry_bytes() const {
  return std::max(least_entry_bytes_, entry_bytes_of(ranks_.placement, parameters_.keeps_all() ? 0 : first_entries(),
                                                     ranks_.memory_is_real));
}

std::size_t LogMemory::needed_entry_bytes(std::size_t members) const {
  std::size_t longest = record_bytes(members, members);
  const auto look_at = [&](const RecordLog& log) {
    for (const LoggedRecord& logged : log.read_all()) longest = std::max(longest, record_bytes(logged.record));
  };
  look_at(control_.own_log);
  for (const RecordLog& log : control_.held_logs) look_at(log);
  return std::clamp(std::bit_ceil(longest), RecordLog::kLeastEntryBytes, RecordLog::kEntryBytes);
}

void LogMemory::take_entries(std::uint32_t entries, std::size_t least_entry_bytes) {
  least_entry_bytes_ = least_entry_bytes;
  // A change of policy that was cut short may have left a log for another policy.
  if (control_.own_log.entries() >= entries &&
      control_.suits(ranks_.placement, ranks_.rank, ranks_.size, entry_bytes(), parameters_.commits_in_place()))
    return;
  Control control(ranks_, std::max(entries, control_.own_log.entries()), entry_bytes(), parameters_.commits_in_place(),
                  control_);
  (void)replace_control(std::move(control));
}

std::vector<CommittedEpoch> LogMemory::own_epochs() const {
  return epochs_in(control_.own_log, parameters_.id, ranks_.rank);
}

std::vector<CommittedEpoch> LogMemory::held_epochs(int copy) const {
  if (static_cast<std::size_t>(copy) >= control_.held_logs.size()) return {};
  return epochs_in(control_.held_logs.at(static_cast<std::size_t>(copy)), parameters_.id,
                   ranks_.placement.kept(ranks_.rank, copy));
}

}  // namespace fenix_impl
