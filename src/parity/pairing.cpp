// SPDX-License-Identifier: BSD-3-Clause
#include "parity/pairing.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace fenix_impl {

Pairing::Pairing(const Policy& policy, int size) : holder_(static_cast<std::size_t>(size)), held_(holder_.size()) {
  std::iota(holder_.begin(), holder_.end(), 0);
  std::iota(held_.begin(), held_.end(), 0);
  if (size < 2) return;
  const int separation = std::clamp(policy.separation, 1, size - 1);
  if (policy.kind == Policy::Kind::ring) {
    link_ring(separation);
  } else {
    link_buddies(separation);
  }
}

void Pairing::link_ring(int separation) {
  for (int rank = 0; rank < size(); ++rank) link(rank, (rank + separation) % size());
}

void Pairing::link_buddies(int separation) {
  std::vector<int> ranks(holder_);
  if (size() % 2 == 1) {
    const int middle = size() / 2;
    const int last = size() - 1;
    link(0, middle);
    link(middle, last);
    link(last, 0);
    std::erase_if(ranks, [&](int rank) { return rank == 0 || rank == middle || rank == last; });
  }

  for (std::size_t start = 0; start + 1 < ranks.size();) {
    const std::size_t left = ranks.size() - start;
    const std::size_t half = std::min(static_cast<std::size_t>(separation), left / 2);
    for (std::size_t i = start; i < start + half; ++i) {
      link(ranks[i], ranks[i + half]);
      link(ranks[i + half], ranks[i]);
    }
    start += 2 * half;
  }
}

void Pairing::link(int owner, int holder) {
  holder_[static_cast<std::size_t>(owner)] = holder;
  held_[static_cast<std::size_t>(holder)] = owner;
}

}  // namespace fenix_impl
