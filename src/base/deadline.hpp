// SPDX-License-Identifier: BSD-3-Clause
// Ends of waits: FENIX_TIMEOUT seconds from the start of a wait, as far as this process has lived meanwhile.
#pragma once

#include <chrono>

#include "base/lived_clock.hpp"

namespace fenix_impl {

class Deadline {
 public:
  using Clock = LivedClock;

  /// FENIX_TIMEOUT seconds from now (default 600).
  Deadline();
  explicit Deadline(Clock::duration from_now) : end_(Clock::now() + from_now) {}

  /// FENIX_TIMEOUT.
  [[nodiscard]] static Clock::duration timeout();

  [[nodiscard]] bool passed() const { return Clock::now() >= end_; }
  /// Negative when the deadline has passed.
  [[nodiscard]] Clock::duration left() const { return end_ - Clock::now(); }
  /// Throws Error(FENIX_ERROR_TIMEOUT) naming what was waited for, if the deadline has passed.
  void check(const char* waited_for) const;

 private:
  Clock::time_point end_;
};

}  // namespace fenix_impl
