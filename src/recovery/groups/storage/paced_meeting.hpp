// SPDX-License-Identifier: BSD-3-Clause
// A question that all ranks ask again and again, and that few of these calls have to talk about: they agree on how many calls they can do
// without.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace fenix_impl {

class PacedMeeting {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether this call has to talk. The same on all ranks, as they make the same calls.
  [[nodiscard]] bool is_due() {
    ++calls_;
    return --left_ <= 0;
  }
  /// Returns the time that a call of this rank has taken since the last meeting, with all that was between.
  [[nodiscard]] double seconds_per_call() const {
    return std::chrono::duration<double>(Clock::now() - since_).count() /
           static_cast<double>(std::max<std::int64_t>(calls_, 1));
  }
  /// Ends a meeting. seconds: until the next one. per_call: of the slowest rank; both the same on all ranks. The number of calls grows
  /// slowly, since steps may become longer.
  void plan(double seconds, double per_call) {
    constexpr double kMostCalls = 1 << 20;
    const double wanted = per_call > 0 ? seconds / per_call : kMostCalls;
    const double most = static_cast<double>(last_) * 2;
    last_ = static_cast<std::int64_t>(std::clamp(std::min(wanted, most), 1.0, kMostCalls));
    left_ = last_;
    calls_ = 0;
    since_ = Clock::now();
  }

 private:
  std::int64_t left_ = 0;
  std::int64_t last_ = 1;
  std::int64_t calls_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace fenix_impl
