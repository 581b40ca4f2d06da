// SPDX-License-Identifier: BSD-3-Clause
#include "base/ticker.hpp"

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "base/signals_blocked.hpp"

namespace fenix_impl {

Ticker::Ticker(std::chrono::steady_clock::duration between, std::function<void()> tick) {
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this, between, tick = std::move(tick)] { run(between, tick); });
  } catch (const std::exception& error) {
    log().warn("no thread to look at the time: {}", error.what());
  }
}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Ticker::run(std::chrono::steady_clock::duration between, const std::function<void()>& tick) {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, between, [this] { return done_; })) tick();
}

}  // namespace fenix_impl
