// SPDX-License-Identifier: BSD-3-Clause
#include "base/last_resort.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>

namespace fenix_impl {

// SIGKILL cannot be handled, and so needs no handler that the application would have to share.
LastResort::LastResort(double timeouts) {
  constexpr Deadline::Clock::duration kLeast = std::chrono::milliseconds(1);
  // Waits that have a deadline come first.
  const auto wanted = std::chrono::duration<double>(Deadline::timeout()) * timeouts;
  const auto time = std::max(std::chrono::duration_cast<Deadline::Clock::duration>(wanted), kLeast);
  try {
    ticker_ = std::make_unique<Ticker>(
        std::clamp<Deadline::Clock::duration>(time / 10, kLeast, LivedClock::kBetweenLooks), [end = Deadline(time)] {
          if (end.passed()) (void)::kill(::getpid(), SIGKILL);
        });
  } catch (const std::exception&) {
    // No memory.
  }
  if (ticker_ == nullptr || !ticker_->ticks()) arm_timer(time);
}

// The kernel's timer goes on while this process is stopped. It is better than a wait without an end.
void LastResort::arm_timer(Deadline::Clock::duration time) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  armed_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  if (!armed_) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
  timer_settime(timer_, 0, &when, nullptr);
}

LastResort::~LastResort() {
  if (armed_) timer_delete(timer_);
}

}  // namespace fenix_impl
