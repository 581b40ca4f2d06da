// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait for each other most of the time, on one processor.
#pragma once

#include <sched.h>

#include <cstdlib>

namespace fenix_test {

/// Keeps this thread, and threads that it starts meanwhile, on the processor where it runs. Waking a thread of another
/// processor costs a virtual machine tens of microseconds, which made tests of simulated ranks take twice as long.
/// Does nothing in the nightly set (FENIX_TEST_EACH) and with the thread sanitizer: more orders of steps occur there.
class OneProcessor {
 public:
  OneProcessor() {
#if !defined(__SANITIZE_THREAD__)
    const int here = sched_getcpu();
    if (std::getenv("FENIX_TEST_EACH") != nullptr || here < 0) return;
    cpu_set_t only_here;
    CPU_ZERO(&only_here);
    CPU_SET(here, &only_here);
    changed_ =
        sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof only_here, &only_here) == 0;
#endif
  }
  ~OneProcessor() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_ = false;
};

}  // namespace fenix_test
