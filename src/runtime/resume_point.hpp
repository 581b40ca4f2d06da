// SPDX-License-Identifier: BSD-3-Clause
// The place in the program to which control jumps after a repair.
#pragma once

#include <csetjmp>
#include <thread>

namespace fenix_impl {

class ResumePoint {
 public:
  /// Takes the place that the macro Fenix_Init has set in this thread; null: there is none.
  void set(std::jmp_buf* place) {
    place_ = place;
    thread_ = std::this_thread::get_id();
  }
  [[nodiscard]] bool is_set() const { return place_ != nullptr; }
  /// Whether it is on the stack of this thread.
  [[nodiscard]] bool is_here() const { return is_set() && std::this_thread::get_id() == thread_; }
  /// Goes there. No object with a destructor may exist in the frames between.
  [[noreturn]] void jump() const { std::longjmp(*place_, 1); }

 private:
  std::jmp_buf* place_ = nullptr;
  std::thread::id thread_;
};

}  // namespace fenix_impl
