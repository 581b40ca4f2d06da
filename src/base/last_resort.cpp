// SPDX-License-Identifier: BSD-3-Clause
#include "base/last_resort.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/deadline.hpp"

namespace fenix_impl {

LastResort::LastResort(double timeouts) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  // Cannot be handled, and so needs no handler that the application would have to share.
  event.sigev_signo = SIGKILL;
  armed_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  if (!armed_) return;
  // Waits that have a deadline come first.
  const auto wanted = std::chrono::duration<double>(Deadline::timeout()) * timeouts;
  const auto left = std::max<std::chrono::nanoseconds>(std::chrono::duration_cast<std::chrono::nanoseconds>(wanted),
                                                       std::chrono::milliseconds(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
  timer_settime(timer_, 0, &when, nullptr);
}

LastResort::~LastResort() {
  if (armed_) timer_delete(timer_);
}

}  // namespace fenix_impl
