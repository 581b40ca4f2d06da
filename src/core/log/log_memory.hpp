// SPDX-License-Identifier: BSD-3-Clause
// The memory of a commit log: the control region, with the entries in which records stand, own ones and those that are kept for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "core/common/group_parameters.hpp"
#include "core/common/group_ranks.hpp"
#include "core/log/control.hpp"
#include "core/log/epochs.hpp"

namespace fenix_impl {

class LogMemory {
 public:
  /// Both must outlive the memory.
  LogMemory(const GroupParameters& parameters, const GroupRanks& ranks) : parameters_(parameters), ranks_(ranks) {}
  LogMemory(const LogMemory&) = delete;
  LogMemory& operator=(const LogMemory&) = delete;

  [[nodiscard]] Control& control() { return control_; }
  [[nodiscard]] const Control& control() const { return control_; }
  /// Puts another control region in the place of the one that there is, which is returned.
  Control replace_control(Control control);

  /// Returns the number of entries in the log, or the number that it will begin with.
  [[nodiscard]] std::uint32_t entries() const;
  /// Returns the bytes that an entry has on the present team's path, with the present policy.
  [[nodiscard]] std::size_t entry_bytes() const;
  /// Returns the least bytes of an entry that has room for each record that there is, own or held, and for one of so many members in
  /// one piece each.
  [[nodiscard]] std::size_t needed_entry_bytes(std::size_t members) const;
  /// Takes memory for so many entries, unless there are as many. Throws Error(FENIX_ERROR_NO_MEMORY).
  /// least_entry_bytes: a power of two, the same on all ranks; entries have as many at least.
  void take_entries(std::uint32_t entries, std::size_t least_entry_bytes = RecordLog::kLeastEntryBytes);

  /// Reads the epochs from the logs themselves: the own one, or the one of a copy that this rank keeps. Oldest first.
  [[nodiscard]] std::vector<CommittedEpoch> own_epochs() const;
  [[nodiscard]] std::vector<CommittedEpoch> held_epochs(int copy) const;

 private:
  [[nodiscard]] std::uint32_t first_entries() const;

  const GroupParameters& parameters_;
  const GroupRanks& ranks_;
  Control control_;
  std::size_t least_entry_bytes_ = RecordLog::kLeastEntryBytes;
};

}  // namespace fenix_impl
