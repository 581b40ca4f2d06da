// SPDX-License-Identifier: BSD-3-Clause
#include "base/location.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace fenix_impl {

std::vector<int> order_of(std::span<const Location> ranks) {
  // Domains and nodes in the order of their first ranks: the names are hashes, and the order should not depend on them.
  std::map<std::uint64_t, int> domains;
  std::map<Location, int> nodes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    domains.try_emplace(ranks[rank].domain, static_cast<int>(rank));
    nodes.try_emplace(ranks[rank], static_cast<int>(rank));
  }
  std::vector<std::tuple<int, int, int>> keys;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Location& there = ranks[rank];
    keys.emplace_back(domains.at(there.domain), nodes.at(there), static_cast<int>(rank));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order;
  for (const auto& [domain, node, rank] : keys) order.push_back(rank);
  return order;
}

bool is_order(std::span<const int> order) {
  std::vector<bool> seen(order.size());
  for (const int rank : order) {
    const auto number = static_cast<std::size_t>(rank);
    if (rank < 0 || number >= order.size() || seen[number]) return false;
    seen[number] = true;
  }
  return true;
}

}  // namespace fenix_impl
