// SPDX-License-Identifier: BSD-3-Clause
// Who protects whom under the buddy policy (API reference, in-memory RAID, mode 1).
#pragma once

#include <vector>

namespace fenix_impl {

/// Cohorts of the buddy policy: pairs, and one chain of three if the number of ranks is odd.
class Pairing {
 public:
  /// Pairs ranks that are separation apart, in blocks of 2 × separation; a rest that is smaller is paired across its half.
  /// If size is odd and at least 3, the first, middle and last rank form a chain and the others are paired among
  /// themselves. A single rank has nobody. separation is in [1, size), or anything if size is 1.
  Pairing(int size, int separation);

  [[nodiscard]] int size() const { return static_cast<int>(holder_.size()); }
  /// The rank that keeps the copy of rank's data; rank itself if there is none.
  [[nodiscard]] int holder_of(int rank) const { return holder_.at(static_cast<std::size_t>(rank)); }
  /// The rank whose data rank keeps a copy of; rank itself if there is none.
  [[nodiscard]] int held_by(int rank) const { return held_.at(static_cast<std::size_t>(rank)); }

 private:
  void link(int owner, int holder);

  std::vector<int> holder_;
  std::vector<int> held_;
};

}  // namespace fenix_impl
