// SPDX-License-Identifier: BSD-3-Clause
// The time of cores that a process has taken.
#pragma once

#include <sys/resource.h>

namespace fenix_bench {

/// Returns the seconds of all cores that this process has taken, in the program and in the system.
inline double cpu_time() {
  constexpr double kMicrosecond = 1e-6;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * kMicrosecond;
}

}  // namespace fenix_bench
