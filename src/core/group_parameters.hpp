// SPDX-License-Identifier: BSD-3-Clause
// What a group was created with; the same on all ranks.
#pragma once

#include <cstdint>

#include "parity/policy.hpp"

namespace fenix_impl {

struct GroupParameters {
  static constexpr std::int32_t kKeepAll = -1;

  std::int32_t id = 0;
  std::int32_t start_time_stamp = 0;
  std::int32_t depth = 0;  ///< or kKeepAll
  Policy policy;
  std::int32_t hashing = 1;  ///< 0: blocks are not hashed, and what is restored is not verified

  bool operator==(const GroupParameters&) const = default;
};

}  // namespace fenix_impl
