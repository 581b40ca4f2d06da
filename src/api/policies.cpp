// SPDX-License-Identifier: BSD-3-Clause
#include "api/policies.hpp"

#include <fenix/codes.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

// In-memory RAID has modes.
constexpr int kBuddyMode = 1;

bool is_raid(int name) { return name == FENIX_DATA_POLICY_IN_MEMORY_RAID; }

}  // namespace

Policy policy_from(int name, const int* values, int ranks) {
  const int half = std::max(ranks / 2, 1);
  if (is_raid(name)) return {Policy::Kind::buddies, values != nullptr ? values[1] : half};
  return {Policy::Kind::ring, values != nullptr ? values[0] : half};
}

void check_policy(int name, const int* values, int ranks) {
  if (!is_raid(name) && name != FENIX_DATA_POLICY_PEER_RANK_SEPARATION) {
    throw Error(FENIX_ERROR_INVALID_POLICY_NAME, "policy_name " + std::to_string(name) + " does not exist");
  }
  if (values == nullptr) return;
  if (is_raid(name) && values[0] != kBuddyMode) {
    throw Error(FENIX_ERROR_INVALID_POLICY_VALUE,
                "policy_value: mode " + std::to_string(values[0]) + " does not exist");
  }
  const int separation = policy_from(name, values, ranks).separation;
  if (separation < 1 || separation >= std::max(ranks, 2)) {
    throw Error(FENIX_ERROR_INVALID_POLICY_VALUE,
                "policy_value: separation " + std::to_string(separation) + " is not in [1, size of comm)");
  }
}

int policy_to(const Policy& policy, int* values) {
  if (policy.kind == Policy::Kind::ring) {
    values[0] = policy.separation;
    return FENIX_DATA_POLICY_PEER_RANK_SEPARATION;
  }
  values[0] = kBuddyMode;
  values[1] = policy.separation;
  return FENIX_DATA_POLICY_IN_MEMORY_RAID;
}

}  // namespace fenix_impl
