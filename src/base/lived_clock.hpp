// SPDX-License-Identifier: BSD-3-Clause
// A clock for waits.
#pragma once

#include <chrono>

namespace fenix_impl {

/// Counts the time that this process has lived. Schedulers stop whole jobs for hours, and a process does not hear of it: of the
/// time between two looks, in whichever thread, only kMost counts. A thread that waits looks more often than that.
struct LivedClock {
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<LivedClock>;
  static constexpr bool is_steady = true;

  static constexpr std::chrono::milliseconds kMost{400};
  /// How long a thread sleeps at most that only looks: twice of it, on a loaded machine, still counts.
  static constexpr std::chrono::milliseconds kBetweenLooks{200};

  /// Looks at the time.
  static time_point now() noexcept;

#ifdef FENIX_FAULT_INJECTION
  /// Does as if this process were stopped for so long.
  static void stop_for(duration time) noexcept;
#endif
};

}  // namespace fenix_impl
