// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/continuation.hpp"

#include <utility>

#include "interposition/interposer.hpp"
#include "runtime/call_gate.hpp"
#include "runtime/call_guards.hpp"
#include "runtime/failure_detector.hpp"

namespace fenix_impl {

thread_local std::exception_ptr Continuation::thrown_before_repair_;

void Continuation::begin(std::jmp_buf* resume_point) {
  resume_point_.set(resume_point);
  thrown_before_repair_ = nullptr;
}

void Continuation::announce_repair(int mpi_error) {
  CallGate::set_repair_pending(true);
  try {
    run_callbacks(FENIX_CALLBACK_PRE_RECOVERY, mpi_error);
  } catch (...) {
    // The other ranks need this one for the repair.
    thrown_before_repair_ = std::current_exception();
  }
  CallGate::set_repair_pending(false);
}

void Continuation::run_callbacks(Fenix_Callback_location location, int mpi_error) {
  constexpr auto kNever = [] { return false; };
  const bool squash = settings_.get(FENIX_CALLBACK_EXCEPTION_MODE) == FENIX_CALLBACK_EXCEPTION_SQUASH;
  callbacks_.call_all(location, process_.comms().name(), mpi_error, squash ? exception_.is_handled : +kNever);
}

void Continuation::resume(int mpi_error, bool callbacks_due) {
  FailureDetector::note_known(process_.repair().count());
  if (CallGate::is_repair_pending() || settings_.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_IGNORE) return;
  const int use = use_.count();
  if (callbacks_due) run_callbacks(FENIX_CALLBACK_POST_RECOVERY, mpi_error);
  // A callback may have ended this use of Fenix, and begun another one: there is nothing to resume.
  if (!use_.ready() || use_.count() != use) return;
  if (thrown_before_repair_) std::rethrow_exception(std::exchange(thrown_before_repair_, nullptr));
  if (RepeatedCall::here() || (interposer() != nullptr && interposer()->goes_on())) return;
  leave(mpi_error);
}

void Continuation::leave(int mpi_error) {
  const unsigned mode = settings_.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN) return;
  if (mode == FENIX_RESUME_JUMP) {
    // There may be no frame to jump to, or it is on another thread's stack.
    if (!resume_point_.is_here()) return;
    callbacks_.leave_rounds();
    resume_point_.jump();
  }
  exception_.raise(process_.comms().name(), process_.repair().outcome(), mpi_error);
}

}  // namespace fenix_impl
