// SPDX-License-Identifier: BSD-3-Clause
// A thread beside one that is inside of a call which cannot be left.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fenix_impl {

/// While one lives, a thread of its own calls a function now and then.
class Ticker {
 public:
  /// The function must not throw.
  Ticker(std::chrono::steady_clock::duration between, std::function<void()> tick);
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  ~Ticker();

  /// False if there was no thread to be had.
  [[nodiscard]] bool ticks() const { return thread_.joinable(); }

 private:
  void run(std::chrono::steady_clock::duration between, const std::function<void()>& tick);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace fenix_impl
