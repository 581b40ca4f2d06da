// SPDX-License-Identifier: BSD-3-Clause
// Lets the n-th allocation or system request of this thread fail. Only in programs that define operator new as
// tests/unit/no_memory_test.cpp does.
#pragma once

namespace fenix_test {

/// Of this thread.
struct Allocations {
  int until_failure = -1;  ///< negative: none fails
  bool and_after = false;  ///< not only that one fails, but all that follow
  bool suspended = false;
  bool failed = false;

  /// To be asked before each one.
  bool next_fails() {
    if (suspended || until_failure < 0) return false;
    if (until_failure > 0) {
      --until_failure;
      return false;
    }
    failed = true;
    if (!and_after) until_failure = -1;
    return true;
  }
};

inline thread_local Allocations allocations;

/// Lets allocations of the test itself succeed.
class AllocationsSucceed {
 public:
  AllocationsSucceed() : before_(allocations.suspended) { allocations.suspended = true; }
  AllocationsSucceed(const AllocationsSucceed&) = delete;
  AllocationsSucceed& operator=(const AllocationsSucceed&) = delete;
  ~AllocationsSucceed() { allocations.suspended = before_; }

 private:
  bool before_;
};

}  // namespace fenix_test
