// SPDX-License-Identifier: BSD-3-Clause
// Whether Fenix is in use, in this process.
#pragma once

#include <sys/types.h>

namespace fenix_impl {

class UseState {
 public:
  [[nodiscard]] bool initialized() const { return initialized_; }
  [[nodiscard]] bool finalized() const { return finalized_; }
  [[nodiscard]] bool ready() const { return initialized_ && !finalized_; }
  [[nodiscard]] bool is_of(pid_t process) const { return ready() && process == process_id_; }
  /// Returns how many uses of Fenix have begun.
  [[nodiscard]] int count() const { return count_; }
  /// Throws Error(FENIX_ERROR_UNINITIALIZED) unless ready.
  void require_ready() const;
  /// Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) if Fenix_Init cannot begin a use now.
  void require_none() const;

  /// Counts one that is about to begin.
  void count_one() { ++count_; }
  void begin();
  /// Passes one in which this process does nothing.
  void pass();
  void end() { finalized_ = true; }
  /// Ends it in a child of fork(), before that does anything: memory and connections belong to the parent. Returns false if there is none.
  bool end_in_child() noexcept;

 private:
  bool initialized_ = false;
  bool finalized_ = false;
  bool is_child_ = false;  // of a process that used Fenix when it called fork()
  int count_ = 0;
  pid_t process_id_ = 0;
};

}  // namespace fenix_impl
