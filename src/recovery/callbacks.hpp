// SPDX-License-Identifier: BSD-3-Clause
// Functions of the application that survivors call before and after a repair.
//
// A callback may meet a failure itself: control can leave it by longjmp, or by an exception. Therefore no object with a
// destructor exists in the frames of a round of calls, and nothing has to be undone after it.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace fenix_impl {

class Callbacks {
 public:
  using Function = std::function<void(MPI_Comm, int)>;

  void push(Fenix_Callback_location location, Function function);
  /// Returns false if there is none.
  bool pop(Fenix_Callback_location location);
  void clear();

  /// Calls the functions of a location in the order of registration, except those that are registered meanwhile. Stops
  /// when another round has been begun in one of them. Exceptions leave it, unless dropped() is true in their handler.
  void call_all(Fenix_Callback_location location, MPI_Comm comm, int error, bool (*dropped)());
  /// Notes that control leaves all rounds by longjmp.
  void leave_rounds() { depth_ = 0; }

 private:
  using Functions = std::vector<std::unique_ptr<Function>>;

  Functions& at(Fenix_Callback_location location) { return functions_.at(static_cast<std::size_t>(location)); }
  void forget_popped();

  std::array<Functions, 2> functions_;  // by location
  Functions popped_;                    // they may be running: destroyed after all rounds
  int depth_ = 0;                       // rounds, each in a callback of the one before
  unsigned long rounds_ = 0;
};

}  // namespace fenix_impl
