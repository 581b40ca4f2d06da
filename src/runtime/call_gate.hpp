// SPDX-License-Identifier: BSD-3-Clause
// The gate between public functions and repairs: a repair waits for all of them, except those that its own callbacks call.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace fenix_impl {

class CallGate {
 public:
  /// Returns a lock that every public function holds while it works.
  [[nodiscard]] std::shared_lock<std::shared_mutex> begin_call() {
    const bool is_alone = repair_is_pending_ || !has_threads_.load(std::memory_order_relaxed);
    return is_alone ? std::shared_lock(calls_, std::defer_lock) : std::shared_lock(calls_);
  }
  /// Returns a lock that a repair holds. Waits until no other thread is in a call.
  [[nodiscard]] std::unique_lock<std::shared_mutex> begin_repair() { return std::unique_lock(calls_); }

  /// Says whether several threads of the program may call at once.
  void expect_threads(bool are_many) { has_threads_ = are_many; }

  /// Says whether this thread calls the callbacks before a repair.
  static void set_repair_pending(bool is_pending) { repair_is_pending_ = is_pending; }
  [[nodiscard]] static bool is_repair_pending() { return repair_is_pending_; }
  /// Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) in a callback before a repair. call: name of a function.
  static void require_no_repair(const char* call);

 private:
  static thread_local bool repair_is_pending_;
  std::shared_mutex calls_;
  std::atomic<bool> has_threads_{true};
};

}  // namespace fenix_impl
