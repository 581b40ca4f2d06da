// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/keeper_thread.hpp"

#include <utility>

#include "base/signals_blocked.hpp"

namespace fenix_impl {

void KeeperThread::start(std::function<void()> when_done) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this, when_done = std::move(when_done)] { run(when_done); });
}

void KeeperThread::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!busy_ && work_.empty()) note_step();
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void KeeperThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool KeeperThread::is_busy() {
  const std::lock_guard lock(mutex_);
  return busy_ || !work_.empty();
}

bool KeeperThread::is_stuck(std::chrono::seconds limit) {
  return is_busy() && Clock::now().time_since_epoch() - Clock::duration(latest_step_.load()) > limit;
}

void KeeperThread::run(const std::function<void()>& when_done) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || !work_.empty(); });
    if (work_.empty()) return;
    const auto work = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    note_step();
    lock.unlock();
    work();
    lock.lock();
    busy_ = false;
    lock.unlock();
    when_done();
    lock.lock();
  }
}

}  // namespace fenix_impl
