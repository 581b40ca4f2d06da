// SPDX-License-Identifier: BSD-3-Clause
// Handles that the program has freed, and that requests still need: MPI would use them again for other objects. They are freed with a later
// one, when no request has them.
#pragma once

#include <algorithm>
#include <vector>

namespace fenix_impl {

template <class Handle>
class KeptHandles {
 public:
  void keep(Handle handle) { all_.push_back(handle); }
  /// Returns the handles that no request needs any more, and forgets them.
  template <class IsInUse>
  [[nodiscard]] std::vector<Handle> take_unused(const IsInUse& is_in_use) {
    const auto unused = std::partition(all_.begin(), all_.end(), is_in_use);
    std::vector<Handle> taken(unused, all_.end());
    all_.erase(unused, all_.end());
    return taken;
  }

 private:
  std::vector<Handle> all_;
};

/// All of one kind. Never destroyed: a program may free handles when the process ends.
template <class Handle>
KeptHandles<Handle>& kept_handles() {
  static auto* instance = new KeptHandles<Handle>;
  return *instance;
}

}  // namespace fenix_impl
