// SPDX-License-Identifier: BSD-3-Clause
// A thread that runs pieces of work one after the other, and knows whether it moves.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/lived_clock.hpp"

namespace fenix_impl {

class KeeperThread {
 public:
  using Clock = LivedClock;

  KeeperThread() = default;
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

  /// when_done: called after each piece of work.
  void start(std::function<void()> when_done);
  void submit(std::function<void()> work);
  /// Ends the thread when its work is done. It must not be stuck.
  void stop();

  /// Notes that work has moved on. Called by the work.
  void note_step() { latest_step_ = Clock::now().time_since_epoch().count(); }
  [[nodiscard]] bool is_busy();
  /// Whether work has not moved for so long.
  [[nodiscard]] bool is_stuck(std::chrono::seconds limit);

 private:
  void run(const std::function<void()>& when_done);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false;
  bool quit_ = false;
  std::atomic<Clock::rep> latest_step_{0};
  std::thread thread_;
};

}  // namespace fenix_impl
