// SPDX-License-Identifier: BSD-3-Clause
// Turns of the threads of a program that store messages, or log them: one at a time.
#pragma once

#include <mutex>

namespace fenix_impl {

class Turns {
 public:
  /// Says whether several threads of the program may call at once. At the start.
  void expect_threads(bool are_many) { has_threads_ = are_many; }
  [[nodiscard]] bool has_threads() const { return has_threads_; }
  /// Returns a lock that every public function holds while it works, where the program may make several calls at a time.
  [[nodiscard]] std::unique_lock<std::mutex> take() {
    return has_threads_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }

 private:
  bool has_threads_ = true;  // several of the program may call at once
  std::mutex mutex_;         // one message at a time
};

}  // namespace fenix_impl
