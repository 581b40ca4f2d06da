// SPDX-License-Identifier: BSD-3-Clause
// Threads of the simulated processes: each has a stack, and runs until it gives the processor away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace fenix_simulation {

using Time = std::uint64_t;  ///< virtual nanoseconds
inline constexpr Time kNever = ~Time{0};

struct Process;

/// Memory of one stack, with a page below it that must not be touched.
class Stack {
 public:
  Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack();
  [[nodiscard]] std::byte* top() const { return memory_ + kBytes; }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;
  std::byte* memory_;
};

struct Fiber {
  /// State of exceptions, which the C++ library keeps for each thread.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  Process* process = nullptr;
  std::uint64_t number = 0;
  std::function<void()> work;
  Time wake = 0;
  std::uint64_t ticket = 0;  ///< an entry of the queue with another one is out of date
  bool done = false;
  bool idle = false;            ///< it looks at what others do, and may be woken early
  Time earliest = 0;            ///< but not before
  unsigned idle_looks = 0;      ///< in a row
  std::uint64_t looked_at = 0;  ///< a bit for each line of shared memory that it has read since it was idle: bit_of()
  unsigned clock_looks = 0;     ///< since it last gave the processor away
  double debt = 0;              ///< time that it has used, and not yet let pass; only where a machine's costs count
  void* stack_pointer = nullptr;
  Stack* stack = nullptr;
  Exceptions exceptions;
  std::vector<std::byte> thread_data;  ///< thread_local variables of the program
};

/// Prepares a fiber to begin with its work.
void prepare(Fiber& fiber, Stack& stack);
/// Runs a fiber until it leaves. Called by the scheduler only.
void enter(Fiber& fiber);
/// Goes back to the scheduler.
void leave(Fiber& fiber);

}  // namespace fenix_simulation
