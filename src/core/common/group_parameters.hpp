// SPDX-License-Identifier: BSD-3-Clause
// The arguments that a group was created with; the same on all ranks.
#pragma once

#include <fenix/codes.h>

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "parity/policy.hpp"

namespace fenix_impl {

struct GroupParameters {
  static constexpr std::int32_t kKeepAll = -1;

  std::int32_t id = 0;
  std::int32_t start_time_stamp = 0;
  std::int32_t depth = 0;  ///< or kKeepAll
  Policy policy;
  std::int32_t hashing = 1;   ///< 0: blocks are not hashed, and what is restored is not verified
  std::int32_t in_place = 0;  ///< 1: a commit overwrites the one own copy; the application's buffers are the second one

  bool operator==(const GroupParameters&) const = default;

  [[nodiscard]] bool keeps_all() const { return depth == kKeepAll; }
  [[nodiscard]] bool commits_in_place() const { return in_place != 0; }
  /// Returns the number of snapshots that are kept; more than there can be if all are.
  [[nodiscard]] std::size_t kept_snapshots() const {
    return keeps_all() ? std::size_t{FENIX_TIME_STAMP_MAX} + 1 : static_cast<std::size_t>(depth) + 1;
  }
  /// Returns the number of slots that a new member gets: the kept snapshots, and the one under construction.
  [[nodiscard]] std::uint32_t first_slots() const {
    constexpr std::uint32_t kFirstKept = 3;  // where all are kept, the number grows from here
    return (keeps_all() ? kFirstKept : static_cast<std::uint32_t>(kept_snapshots())) + 1;
  }
  /// Returns how many of so many slots have memory for own data.
  [[nodiscard]] std::uint32_t own_slots(std::uint32_t slots) const { return commits_in_place() ? 1 : slots; }
  [[nodiscard]] int time_stamp_of(Epoch epoch) const { return start_time_stamp + static_cast<int>(epoch.value) - 1; }
};

}  // namespace fenix_impl
