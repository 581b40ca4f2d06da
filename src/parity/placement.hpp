// SPDX-License-Identifier: BSD-3-Clause
// Who keeps what for whom, under each policy.
#pragma once

#include <cstddef>
#include <vector>

#include "parity/policy.hpp"

namespace fenix_impl {

class Placement {
 public:
  /// Nobody keeps anything.
  Placement() = default;
  Placement(const Policy& policy, int ranks);

  /// Copies of each record that other ranks have; also the ranks that may be lost from each cohort.
  [[nodiscard]] int copies() const { return static_cast<int>(keepers_.size()); }
  /// The rank that has a copy of what a rank commits. copy: from 0 to copies() - 1.
  [[nodiscard]] int keeper(int rank, int copy) const { return at(at(keepers_, copy), rank); }
  /// The rank whose copy with that number a rank has.
  [[nodiscard]] int kept(int rank, int copy) const { return at(at(kept_, copy), rank); }
  /// The ranks that encode together with a rank, itself among them; none under a policy that does not encode.
  [[nodiscard]] const std::vector<int>& cohort(int rank) const;
  /// The place of a rank in its cohort.
  [[nodiscard]] int place_in_cohort(int rank) const;

 private:
  template <class T>
  static const T& at(const std::vector<T>& all, int index) {
    return all.at(static_cast<std::size_t>(index));
  }

  void make_pairs(const Policy& policy, int ranks);
  void make_cohorts(const Policy& policy, int ranks);

  std::vector<std::vector<int>> keepers_;  // by copy and rank
  std::vector<std::vector<int>> kept_;
  std::vector<std::vector<int>> cohorts_;
  std::vector<int> cohort_of_;  // by rank
};

/// Divides ranks into cohorts. Blocks of separation * size neighbouring ranks make up cohorts whose ranks are separation
/// apart; a rest that is smaller makes up cohorts with the largest separation that it allows, and what is left then goes to the
/// last cohorts, one rank each. Fewer ranks than size are one cohort.
[[nodiscard]] std::vector<std::vector<int>> cohorts_of(int ranks, int separation, int size);

}  // namespace fenix_impl
