// SPDX-License-Identifier: BSD-3-Clause
// How the program goes on after a failure: callbacks, and then a return, a jump or an exception.
#pragma once

#include <fenix/codes.h>

#include <exception>

#include "recovery/process/process.hpp"
#include "runtime/callbacks.hpp"
#include "runtime/failure_exception.hpp"
#include "runtime/resume_point.hpp"
#include "runtime/settings.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

class Continuation {
 public:
  /// All must outlive it.
  Continuation(const Settings& settings, Callbacks& callbacks, const Process& process, const UseState& use)
      : settings_(settings), callbacks_(callbacks), process_(process), use_(use) {}

  void set_exception(const FailureException& exception) { exception_ = exception; }
  /// Begins in this thread. resume_point: of the program, or null.
  void begin(std::jmp_buf* resume_point);
  [[nodiscard]] bool can_jump() const { return resume_point_.is_set(); }

  /// Calls the callbacks before a repair, and keeps an exception until the repair is done.
  void announce_repair(int mpi_error);
  /// Calls the callbacks if they are due, and goes on as FENIX_RESUME_MODE says. Returns only in mode "return", and in
  /// mode "jump" in threads other than that of Fenix_Init.
  void resume(int mpi_error, bool callbacks_due = true);
  /// Goes on as FENIX_RESUME_MODE says.
  void leave(int mpi_error);
  /// Calls the callbacks of a location.
  void run_callbacks(Fenix_Callback_location location, int mpi_error);

 private:
  const Settings& settings_;
  Callbacks& callbacks_;
  const Process& process_;
  const UseState& use_;
  FailureException exception_;
  ResumePoint resume_point_;
  static thread_local std::exception_ptr thrown_before_repair_;
};

}  // namespace fenix_impl
