// SPDX-License-Identifier: BSD-3-Clause
// Functions of the application that survivors call before and after a repair.
//
// A callback may meet a failure itself: control can leave it by longjmp, or by an exception. Therefore no object with a
// destructor exists in the frames of a round of calls, and nothing has to be undone after it.
//
// Threads of the application may register callbacks while others call them.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
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
  /// Notes that control leaves all rounds of this thread by longjmp.
  void leave_rounds() { end_round(0); }

 private:
  using Functions = std::vector<std::unique_ptr<Function>>;
  struct OfThread {
    int depth = 0;  ///< rounds, each in a callback of the one before
    unsigned long rounds = 0;
  };

  [[nodiscard]] std::size_t begin_round(Fenix_Callback_location location);
  void end_round(int depth);
  [[nodiscard]] const Function* find(Fenix_Callback_location location, std::size_t position);
  /// Returns the functions that may be destroyed now, which has to be done without the mutex.
  [[nodiscard]] Functions take_popped();

  Functions& at(Fenix_Callback_location location) { return functions_.at(static_cast<std::size_t>(location)); }

  static thread_local OfThread here_;
  std::mutex mutex_;
  std::array<Functions, 2> functions_;  // by location
  Functions popped_;                    // they may be running: destroyed after all rounds
  int rounds_under_way_ = 0;            // of all threads
};

}  // namespace fenix_impl
