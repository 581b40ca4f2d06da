// SPDX-License-Identifier: BSD-3-Clause
// The ranks that keep data and parity of each rank, under each policy.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "base/location.hpp"
#include "parity/policy.hpp"

namespace fenix_impl {

/// Whether a policy can be one, which another process has written.
[[nodiscard]] bool makes_sense(const Policy& policy);

class Placement {
 public:
  /// Nobody keeps anything.
  Placement() = default;
  /// order: of all ranks, see order_of(); used where the separation is chosen here. Empty: by number.
  Placement(const Policy& policy, int ranks, std::vector<int> order = {});

  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  /// Copies of each record that other ranks have; also the ranks that may be lost from each redundancy set.
  [[nodiscard]] int copies() const { return static_cast<int>(holders_.size()); }
  /// The rank that has a copy of what a rank commits. copy: from 0 to copies() - 1.
  [[nodiscard]] int holder(int rank, int copy) const { return at(at(holders_, copy), rank); }
  /// The rank whose copy with that number a rank has.
  [[nodiscard]] int kept(int rank, int copy) const { return at(at(kept_, copy), rank); }
  /// The ranks that encode together with a rank, itself among them; none under a policy that does not encode.
  [[nodiscard]] const std::vector<int>& redundancy_set(int rank) const;
  /// Whether each redundancy set has as many ranks left as it takes to make the others' data from theirs.
  [[nodiscard]] bool suffices_without(const std::set<int>& missing) const;
  /// The index of a rank in its redundancy set.
  [[nodiscard]] int index_in_set(int rank) const;
  /// The ranks that protect a rank or are protected by it, ascending. Partners are mutual.
  [[nodiscard]] std::vector<int> partners(int rank) const;
  /// Those, and some more, few of which are near each other: they know of a rank what has to be known though its partners have
  /// died with it. Their number grows with the logarithm of the ranks. Mutual, as above.
  [[nodiscard]] std::vector<int> witnesses(int rank) const;
  /// The most ranks, a rank and others that protect each other with it, that are on one node: if it dies, so many are lost at
  /// once. 1 is best. The same for domains, where they have names. where: by rank, of this one and its partners.
  [[nodiscard]] int most_on_a_node(int rank, const std::map<int, Location>& where) const;
  [[nodiscard]] int most_in_a_domain(int rank, const std::map<int, Location>& where) const;

 private:
  template <class T>
  static const T& at(const std::vector<T>& all, int index) {
    return all.at(static_cast<std::size_t>(index));
  }

  template <class Name>
  [[nodiscard]] int most_with_one(int rank, const Name& name) const;
  void make_pairs(const Policy& policy, int ranks);
  void make_redundancy_sets(const Policy& policy, int ranks);
  void keep_for_next(const std::vector<std::vector<int>>& redundancy_sets, int ranks, std::size_t copies);

  std::vector<int> order_;
  std::vector<std::vector<int>> holders_;  // by copy and rank
  std::vector<std::vector<int>> kept_;
  std::vector<std::vector<int>> redundancy_sets_;
  std::vector<int> set_of_;  // by rank
};

/// Divides ranks into redundancy sets. Blocks of separation * size neighbouring ranks make up redundancy sets whose ranks are separation
/// apart. A rest that is smaller makes up redundancy sets with the largest separation that it allows. The ranks that are left then
/// go to the last redundancy sets, one each. Fewer ranks than size are one redundancy set.
[[nodiscard]] std::vector<std::vector<int>> redundancy_sets_of(int ranks, int separation, int size);

/// Divides ranks into as many redundancy sets of at least size as there can be, by dealing them out in their order. The ranks of a
/// node are neighbours there, so two of them share a redundancy set only if the node has more ranks than there are redundancy sets.
[[nodiscard]] std::vector<std::vector<int>> dealt_sets(const std::vector<int>& order, int size);

}  // namespace fenix_impl
