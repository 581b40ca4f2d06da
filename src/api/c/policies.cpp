// SPDX-License-Identifier: BSD-3-Clause
#include "api/c/policies.hpp"

#include <fenix/codes.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

// Modes of in-memory RAID.
constexpr int kBuddyMode = 1;
constexpr int kParityMode = 5;

constexpr int kDefaultSetSize = 4;
constexpr int kDefaultLosses = 2;
constexpr int kMostLosses = 4;

[[noreturn]] void refuse(const std::string& what, int value, const std::string& why) {
  throw Error(FENIX_ERROR_INVALID_POLICY_VALUE, "policy_value: " + what + " " + std::to_string(value) + " " + why);
}

}  // namespace

Policy policy_from(int name, const int* values) {
  const auto separation = [](int value) { return value == FENIX_DATA_SEPARATION_AUTO ? Policy::kChosen : value; };
  switch (name) {
    case FENIX_DATA_POLICY_IN_MEMORY_RAID:
      if (values == nullptr) return {Policy::Kind::buddies, Policy::kChosen, 0, 1};
      if (values[0] == kParityMode) return {Policy::Kind::parity, separation(values[1]), values[2], 1};
      return {Policy::Kind::buddies, separation(values[1]), 0, 1};
    case FENIX_DATA_POLICY_REED_SOLOMON:
      if (values == nullptr) return {Policy::Kind::reed_solomon, Policy::kChosen, kDefaultSetSize, kDefaultLosses};
      return {Policy::Kind::reed_solomon, separation(values[0]), values[1], values[2]};
    case FENIX_DATA_POLICY_LOCAL:
      return {Policy::Kind::local, 1, 0, 0};
    default:
      return {Policy::Kind::ring, values != nullptr ? separation(values[0]) : Policy::kChosen, 0, 1};
  }
}

void check_policy(int name, const int* values, int ranks) {
  constexpr int known[] = {FENIX_DATA_POLICY_IN_MEMORY_RAID, FENIX_DATA_POLICY_PEER_RANK_SEPARATION,
                           FENIX_DATA_POLICY_REED_SOLOMON, FENIX_DATA_POLICY_LOCAL};
  if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
    throw Error(FENIX_ERROR_INVALID_POLICY_NAME, "policy_name " + std::to_string(name) + " does not exist");
  }
  if (values == nullptr || name == FENIX_DATA_POLICY_LOCAL) return;
  if (name == FENIX_DATA_POLICY_IN_MEMORY_RAID && values[0] != kBuddyMode && values[0] != kParityMode) {
    refuse("mode", values[0], "does not exist");
  }
  const Policy policy = policy_from(name, values);
  const int separation = values[name == FENIX_DATA_POLICY_IN_MEMORY_RAID ? 1 : 0];
  if (separation != FENIX_DATA_SEPARATION_AUTO && (separation < 1 || separation >= std::max(ranks, 2))) {
    refuse("separation", separation, "is not in [1, size of comm)");
  }
  if (!policy.encodes()) return;
  if (policy.losses < 1 || policy.losses > kMostLosses) refuse("losses", policy.losses, "is not in [1, 4]");
  // A communicator of one rank has no other rank to protect it, under any policy.
  // As in the current Fenix, parity takes the ranks that there are for a redundancy set that would be larger.
  const bool is_cut = policy.kind == Policy::Kind::parity;
  const int least = policy.losses + 1;
  const int most = is_cut ? Policy::kMostSetSize : std::min(std::max(ranks, least), Policy::kMostSetSize);
  if (policy.set_size < least || policy.set_size > most) {
    refuse("cohort size", policy.set_size, "is not in [" + std::to_string(least) + ", " + std::to_string(most) + "]");
  }
}

int policy_to(const Policy& policy, const Placement& placement, int* values) {
  int separation = policy.separation;
  if (separation == Policy::kChosen) {
    // With copies and an unchanged order of the ranks, the choice is the default of the specification: half of the
    // ranks.
    const auto& order = placement.order();
    const bool is_half = policy.keeps_copies() && std::is_sorted(order.begin(), order.end());
    separation = is_half ? std::max(static_cast<int>(order.size()) / 2, 1) : FENIX_DATA_SEPARATION_AUTO;
  }
  switch (policy.kind) {
    case Policy::Kind::local:
      return FENIX_DATA_POLICY_LOCAL;
    case Policy::Kind::ring:
      values[0] = separation;
      return FENIX_DATA_POLICY_PEER_RANK_SEPARATION;
    case Policy::Kind::reed_solomon:
      values[0] = separation;
      values[1] = policy.set_size;
      values[2] = policy.losses;
      return FENIX_DATA_POLICY_REED_SOLOMON;
    case Policy::Kind::parity:
      values[0] = kParityMode;
      values[1] = separation;
      values[2] = policy.set_size;
      return FENIX_DATA_POLICY_IN_MEMORY_RAID;
    case Policy::Kind::buddies:
      break;
  }
  values[0] = kBuddyMode;
  values[1] = separation;
  return FENIX_DATA_POLICY_IN_MEMORY_RAID;
}

}  // namespace fenix_impl
