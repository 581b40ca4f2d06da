// SPDX-License-Identifier: BSD-3-Clause
#include "parity/placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "parity/code.hpp"
#include "parity/pairing.hpp"

namespace fenix_impl {

std::vector<std::vector<int>> redundancy_sets_of(int ranks, int separation, int size) {
  std::vector<std::vector<int>> redundancy_sets;
  int next = 0;
  while (ranks - next >= size) {
    const int apart = std::min(separation, (ranks - next) / size);
    for (int first = next; first < next + apart; ++first) {
      auto& redundancy_set = redundancy_sets.emplace_back();
      for (int i = 0; i < size; ++i) redundancy_set.push_back(first + i * apart);
    }
    next += apart * size;
  }
  if (redundancy_sets.empty()) {
    redundancy_sets.emplace_back(static_cast<std::size_t>(ranks));
    std::iota(redundancy_sets[0].begin(), redundancy_sets[0].end(), 0);
    return redundancy_sets;
  }
  for (std::size_t back = 1; next < ranks; ++next, ++back) {
    redundancy_sets[redundancy_sets.size() - 1 - (back - 1) % redundancy_sets.size()].push_back(next);
  }
  return redundancy_sets;
}

std::vector<std::vector<int>> dealt_sets(const std::vector<int>& order, int size) {
  const std::size_t count = std::max<std::size_t>(order.size() / static_cast<std::size_t>(size), 1);
  std::vector<std::vector<int>> redundancy_sets(count);
  for (std::size_t i = 0; i < order.size(); ++i) redundancy_sets[i % count].push_back(order[i]);
  return redundancy_sets;
}

namespace {

// All ranks, such that who follows is about half of them away in the order.
std::vector<std::vector<int>> ring_of(const std::vector<int>& order) {
  const std::size_t half = std::max<std::size_t>(order.size() / 2, 1);
  std::vector<std::vector<int>> rings;
  std::vector<bool> seen(order.size());
  for (std::size_t first = 0; first < order.size(); ++first) {
    if (seen[first]) continue;
    auto& ring = rings.emplace_back();
    for (std::size_t i = first; !seen[i]; i = (i + half) % order.size()) {
      seen[i] = true;
      ring.push_back(order[i]);
    }
  }
  return rings;
}

}  // namespace

bool makes_sense(const Policy& policy) {
  if (!policy.encodes()) return policy.keeps_copies() || !policy.has_redundancy();
  return policy.separation >= 0 && policy.losses >= 1 && policy.losses <= Code::kMostParity && policy.set_size >= 1 &&
         policy.set_size <= Policy::kMostSetSize;
}

Placement::Placement(const Policy& policy, int ranks, std::vector<int> order) : order_(std::move(order)) {
  if (order_.empty()) {
    order_.resize(static_cast<std::size_t>(ranks));
    std::iota(order_.begin(), order_.end(), 0);
  }
  if (policy.encodes()) {
    make_redundancy_sets(policy, ranks);
  } else if (policy.keeps_copies() && ranks > 1) {
    make_pairs(policy, ranks);
  }
}

void Placement::make_pairs(const Policy& policy, int ranks) {
  if (policy.separation == Policy::kChosen) {
    constexpr int kPair = 2;
    keep_for_next(policy.kind == Policy::Kind::ring ? ring_of(order_) : dealt_sets(order_, kPair), ranks, 1);
    return;
  }
  const Pairing pairing(policy, ranks);
  holders_.resize(1);
  kept_.resize(1);
  for (int rank = 0; rank < ranks; ++rank) {
    holders_[0].push_back(pairing.holder_of(rank));
    kept_[0].push_back(pairing.held_by(rank));
  }
}

void Placement::make_redundancy_sets(const Policy& policy, int ranks) {
  redundancy_sets_ = policy.separation == Policy::kChosen
                         ? dealt_sets(order_, policy.set_size)
                         : redundancy_sets_of(ranks, policy.separation, policy.set_size);
  std::size_t smallest = redundancy_sets_[0].size();
  for (const auto& redundancy_set : redundancy_sets_) smallest = std::min(smallest, redundancy_set.size());
  const std::size_t copies = std::min(static_cast<std::size_t>(policy.losses), smallest - 1);
  keep_for_next(redundancy_sets_, ranks, copies);
  set_of_.resize(static_cast<std::size_t>(ranks));
  for (std::size_t number = 0; number < redundancy_sets_.size(); ++number) {
    for (const int rank : redundancy_sets_[number]) set_of_[static_cast<std::size_t>(rank)] = static_cast<int>(number);
  }
}

// Each rank's copies are with those that follow it in its redundancy set.
void Placement::keep_for_next(const std::vector<std::vector<int>>& redundancy_sets, int ranks, std::size_t copies) {
  holders_.assign(copies, std::vector<int>(static_cast<std::size_t>(ranks)));
  kept_ = holders_;
  for (const auto& redundancy_set : redundancy_sets) {
    for (std::size_t i = 0; i < redundancy_set.size(); ++i) {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        const int holder = redundancy_set[(i + 1 + copy) % redundancy_set.size()];
        holders_[copy][static_cast<std::size_t>(redundancy_set[i])] = holder;
        kept_[copy][static_cast<std::size_t>(holder)] = redundancy_set[i];
      }
    }
  }
}

std::vector<int> Placement::partners(int rank) const {
  std::set<int> all(redundancy_set(rank).begin(), redundancy_set(rank).end());
  for (int copy = 0; copy < copies(); ++copy) {
    all.insert(holder(rank, copy));
    all.insert(kept(rank, copy));
  }
  all.erase(rank);
  return {all.begin(), all.end()};
}

std::vector<int> Placement::witnesses(int rank) const {
  const auto near = partners(rank);
  std::set<int> all(near.begin(), near.end());
  const int ranks = static_cast<int>(order_.size());
  for (int distance = 1; distance < ranks; distance *= 2) {
    all.insert((rank + distance) % ranks);
    all.insert((rank + ranks - distance) % ranks);
  }
  all.erase(rank);
  return {all.begin(), all.end()};
}

template <class Name>
int Placement::most_with_one(int rank, const Name& name) const {
  int most = 1;
  const auto count = [&](const std::vector<int>& ranks) {
    std::map<decltype(name(0)), int> with;
    for (const int each : ranks) most = std::max(most, ++with[name(each)]);
  };
  if (!redundancy_sets_.empty()) {
    count(redundancy_set(rank));
    return most;
  }
  for (int copy = 0; copy < copies(); ++copy) {
    if (holder(rank, copy) != rank) count({rank, holder(rank, copy)});
  }
  return most;
}

int Placement::most_on_a_node(int rank, const std::map<int, Location>& where) const {
  return most_with_one(rank, [&](int each) { return where.at(each); });
}

int Placement::most_in_a_domain(int rank, const std::map<int, Location>& where) const {
  return most_with_one(rank, [&](int each) { return where.at(each).domain; });
}

const std::vector<int>& Placement::redundancy_set(int rank) const {
  static const std::vector<int> none;
  return redundancy_sets_.empty() ? none : at(redundancy_sets_, at(set_of_, rank));
}

bool Placement::suffices_without(const std::set<int>& missing) const {
  return std::all_of(missing.begin(), missing.end(), [&](int rank) {
    const auto& all = redundancy_set(rank);
    return std::count_if(all.begin(), all.end(), [&](int each) { return missing.count(each) != 0; }) <= copies();
  });
}

int Placement::index_in_set(int rank) const {
  const auto& ranks = redundancy_set(rank);
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace fenix_impl
