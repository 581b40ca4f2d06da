// SPDX-License-Identifier: BSD-3-Clause
#include "parity/placement.hpp"

#include <algorithm>
#include <numeric>

#include "parity/pairing.hpp"

namespace fenix_impl {

std::vector<std::vector<int>> cohorts_of(int ranks, int separation, int size) {
  std::vector<std::vector<int>> cohorts;
  int next = 0;
  while (ranks - next >= size) {
    const int apart = std::min(separation, (ranks - next) / size);
    for (int first = next; first < next + apart; ++first) {
      auto& cohort = cohorts.emplace_back();
      for (int i = 0; i < size; ++i) cohort.push_back(first + i * apart);
    }
    next += apart * size;
  }
  if (cohorts.empty()) {
    cohorts.emplace_back(static_cast<std::size_t>(ranks));
    std::iota(cohorts[0].begin(), cohorts[0].end(), 0);
    return cohorts;
  }
  for (std::size_t back = 1; next < ranks; ++next, ++back) {
    cohorts[cohorts.size() - 1 - (back - 1) % cohorts.size()].push_back(next);
  }
  return cohorts;
}

Placement::Placement(const Policy& policy, int ranks) {
  if (policy.encodes()) {
    make_cohorts(policy, ranks);
  } else if (policy.keeps_copies() && ranks > 1) {
    make_pairs(policy, ranks);
  }
}

void Placement::make_pairs(const Policy& policy, int ranks) {
  const Pairing pairing(policy, ranks);
  keepers_.resize(1);
  kept_.resize(1);
  for (int rank = 0; rank < ranks; ++rank) {
    keepers_[0].push_back(pairing.holder_of(rank));
    kept_[0].push_back(pairing.held_by(rank));
  }
}

void Placement::make_cohorts(const Policy& policy, int ranks) {
  cohorts_ = cohorts_of(ranks, policy.separation, policy.cohort_size);
  std::size_t smallest = cohorts_[0].size();
  for (const auto& cohort : cohorts_) smallest = std::min(smallest, cohort.size());
  const std::size_t copies = std::min(static_cast<std::size_t>(policy.losses), smallest - 1);
  const auto count = static_cast<std::size_t>(ranks);
  keepers_.assign(copies, std::vector<int>(count));
  kept_.assign(copies, std::vector<int>(count));
  cohort_of_.resize(count);
  for (std::size_t number = 0; number < cohorts_.size(); ++number) {
    const auto& cohort = cohorts_[number];
    for (std::size_t i = 0; i < cohort.size(); ++i) {
      cohort_of_[static_cast<std::size_t>(cohort[i])] = static_cast<int>(number);
      for (std::size_t copy = 0; copy < copies; ++copy) {
        const int keeper = cohort[(i + 1 + copy) % cohort.size()];
        keepers_[copy][static_cast<std::size_t>(cohort[i])] = keeper;
        kept_[copy][static_cast<std::size_t>(keeper)] = cohort[i];
      }
    }
  }
}

const std::vector<int>& Placement::cohort(int rank) const {
  static const std::vector<int> none;
  return cohorts_.empty() ? none : at(cohorts_, at(cohort_of_, rank));
}

int Placement::place_in_cohort(int rank) const {
  const auto& ranks = cohort(rank);
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace fenix_impl
