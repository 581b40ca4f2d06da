// SPDX-License-Identifier: BSD-3-Clause
// The ranks that protect each rank under the policies that keep whole copies.
#pragma once

#include <vector>

#include "parity/policy.hpp"

namespace fenix_impl {

class Pairing {
 public:
  /// A separation that is too large for so many ranks counts as the largest possible one. A single rank has nobody.
  /// Buddies: pairs ranks that are separation apart, in blocks of 2 × separation; a rest that is smaller is paired across
  /// its half. If size is odd and at least 3, the first, middle and last rank form a chain and the others are paired among
  /// themselves.
  Pairing(const Policy& policy, int size);

  [[nodiscard]] int size() const { return static_cast<int>(holder_.size()); }
  /// The rank that keeps the copy of rank's data; rank itself if there is none.
  [[nodiscard]] int holder_of(int rank) const { return holder_.at(static_cast<std::size_t>(rank)); }
  /// The rank whose data rank keeps a copy of; rank itself if there is none.
  [[nodiscard]] int held_by(int rank) const { return held_.at(static_cast<std::size_t>(rank)); }

 private:
  void link_buddies(int separation);
  void link_ring(int separation);
  void link(int owner, int holder);

  std::vector<int> holder_;
  std::vector<int> held_;
};

}  // namespace fenix_impl
