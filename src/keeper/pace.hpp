// SPDX-License-Identifier: BSD-3-Clause
// A limit to the bytes per second that are written.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace fenix_impl {

class Pace {
 public:
  /// rate: bytes per second; 0: no limit. step: called after all writes, and while this one waits.
  Pace(std::uint64_t rate, std::function<void(std::uint64_t bytes)> step) : rate_(rate), step_(std::move(step)) {}

  /// Notes a write, and waits until the next one may begin.
  void wrote(std::uint64_t bytes) const {
    constexpr std::chrono::milliseconds kNap{50};
    step_(bytes);
    written_ += bytes;
    if (rate_ == 0) return;
    const std::chrono::duration<double> due(static_cast<double>(written_) / static_cast<double>(rate_));
    while (Clock::now() - since_ < due) {
      std::this_thread::sleep_for(
          std::min<Clock::duration>(kNap, std::chrono::duration_cast<Clock::duration>(due) - (Clock::now() - since_)));
      step_(0);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t rate_;
  std::function<void(std::uint64_t bytes)> step_;
  Clock::time_point since_ = Clock::now();
  mutable std::uint64_t written_ = 0;
};

}  // namespace fenix_impl
