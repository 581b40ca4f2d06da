// SPDX-License-Identifier: BSD-3-Clause
// Functions of the application that survivors call after a repair.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

namespace fenix_impl {

class Callbacks {
 public:
  using Function = std::function<void(MPI_Comm, int)>;

  void push(Function function) { functions_.push_back(std::move(function)); }
  /// Returns false if there is none.
  bool pop() {
    if (functions_.empty()) return false;
    functions_.pop_back();
    return true;
  }
  void clear() { functions_.clear(); }

  /// Calls all, the one registered last first. They may register and pop others: a copy of the list is worked through.
  template <class Call>
  void call_all(Call&& call) const {
    const std::vector<Function> copy = functions_;
    for (auto function = copy.rbegin(); function != copy.rend(); ++function) call(*function);
  }

 private:
  std::vector<Function> functions_;
};

}  // namespace fenix_impl
