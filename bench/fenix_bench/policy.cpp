// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <fenix.h>

#include <regex>

namespace bench {

namespace {

// Of policies that this version of the library does not know: it refuses them, and says so.
constexpr int kUnknownPolicy = 0;
#ifdef FENIX_DATA_POLICY_REED_SOLOMON
constexpr int kReedSolomon = FENIX_DATA_POLICY_REED_SOLOMON;
constexpr int kLocal = FENIX_DATA_POLICY_LOCAL;
#else
constexpr int kReedSolomon = kUnknownPolicy;
constexpr int kLocal = kUnknownPolicy;
#endif

constexpr int kRaidOfCopies = 1;
constexpr int kRaidOfParity = 5;

}  // namespace

std::optional<Policy> parse_policy(const std::string& text) {
  static const std::regex form(R"((buddy|ring|xor|rs|local)(?::(\d{1,6})(?:\+(\d{1,6}))?)?(?:@(\d{1,6}))?)");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return std::nullopt;
  const std::string kind = part[1];
  const auto number = [&](std::size_t index, int otherwise) {
    return part[index].matched ? std::stoi(part[index]) : otherwise;
  };
  const bool has_group = part[2].matched;
  const bool has_parity = part[3].matched;
  const bool has_separation = part[4].matched;
  if (has_group != (kind == "xor" || kind == "rs") || has_parity != (kind == "rs")) return std::nullopt;

  if (kind == "xor") return Policy{FENIX_DATA_POLICY_IN_MEMORY_RAID, {kRaidOfParity, number(4, 1), number(2, 0)}};
  if (kind == "rs") return Policy{kReedSolomon, {number(4, 1), number(2, 0), number(3, 0)}};
  if (kind == "local") return Policy{kLocal, {}};
  const bool copies = kind == "buddy";
  Policy policy{copies ? FENIX_DATA_POLICY_IN_MEMORY_RAID : FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {}};
  if (has_separation) {
    policy.values = copies ? std::vector<int>{kRaidOfCopies, number(4, 0)} : std::vector<int>{number(4, 0)};
  }
  return policy;
}

}  // namespace bench
