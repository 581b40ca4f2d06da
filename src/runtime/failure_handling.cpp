// SPDX-License-Identifier: BSD-3-Clause
// Errors of MPI: which ones come from deaths, and how calls go on after them.
#include "runtime/runtime.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "interposition/interposer.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/surroundings.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

std::string text_of(int mpi_error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  return text.data();
}

}  // namespace

bool Runtime::comes_from_failure(int mpi_error) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (!ready()) return false;
  if (is_failure(mpi_error)) return true;
  const Deadline deadline(is_vague(mpi_error) ? kTimeForNotice : std::chrono::milliseconds(0));
  do {
    if (process_->comms().look_for_failures() != MPI_SUCCESS) return true;
  } while (!deadline.passed());
  return false;
}

void Runtime::on_mpi_error(int mpi_error, MPI_Comm comm) {
  const bool is_announced = std::exchange(announced_error_, MPI_SUCCESS) == mpi_error;
  if (Inside::here() || !ready()) return;
  if (interposer() != nullptr && comm != MPI_COMM_NULL && interposer()->is_past(comm)) {
    on_past_error(mpi_error);
    return;
  }
  const int repairs_before = process_->repair().count();
  const bool may_be_past = interposer() != nullptr && interposer()->gets_past_errors(comm);
  bool failure = false;
  bool elsewhere = false;
  {
    // Waits for a repair that another thread has begun: the communicators must not be looked at in the meantime.
    const auto call = begin_call();
    const Inside inside;
    // A failure that has been repaired leaves no other trace than the code.
    failure = !is_announced &&
              (may_be_past ? process_->comms().look_for_failures() != MPI_SUCCESS : comes_from_failure(mpi_error));
    elsewhere = failure && repaired_elsewhere(repairs_before);
  }
  if (!failure && may_be_past) {
    on_past_error(mpi_error);
    return;
  }
  if (!failure) {
    if (interposer() == nullptr || !interposer()->call_handler(comm, mpi_error)) report_unhandled(mpi_error);
    return;
  }
  if (interposer() != nullptr && interposer()->must_go_on() && !interposer()->goes_on()) {
    abort_job(JobEnd::begins_again, rank_in(process_->comms().resilient()),
              "a rank has died, and a call was cut short that cannot go on: its messages are not logged");
  }
  const bool repaired = !elsewhere && repair(mpi_error, repairs_before);
  resume(mpi_error, repaired);
}

// There is nothing to be repaired: a pending request ends with the error. If another thread has repaired, this one resumes where all
// do.
void Runtime::on_past_error(int mpi_error) {
  announced_error_ = MPI_SUCCESS;
  if (Inside::here() || !ready()) return;
  bool knows = false;
  {
    const auto repair_is_over = begin_call();
    knows = known_repairs_ == process_->repair().count();
  }
  if (knows) {
    report_past_call();
  } else {
    resume(mpi_error, /*callbacks_due=*/false);
  }
}

// Once after each repair: a program that does not look at codes would never see that nothing is sent. With libfenix_mpi, communicators
// need not be derived again.
void Runtime::report_past_call() {
  if (interposer() != nullptr || settings.get(FENIX_UNHANDLED_MODE) == FENIX_UNHANDLED_SILENT) return;
  if (const int repairs = process_->repair().count(); reported_repairs_.exchange(repairs) == repairs) return;
  std::fprintf(stderr, "fenix: a call returned an error because its communicator or request is from before a repair\n");
}

// With several threads, the error may come from a communicator that another thread has repaired in the meantime: then
// the present one is in order.
bool Runtime::repaired_elsewhere(int repairs_before) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (process_->repair().count() != repairs_before) return true;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || repairs_before == 0) return false;
  for (const Deadline deadline(kTimeForNotice); !deadline.passed();) {
    if (process_->comms().look_for_failures() != MPI_SUCCESS) return false;
  }
  return true;
}

void Runtime::report_unhandled(int mpi_error) const {
  const unsigned mode = settings.get(FENIX_UNHANDLED_MODE);
  if (mode == FENIX_UNHANDLED_SILENT) return;
  std::fprintf(stderr, "fenix: rank %d: MPI error that is not a failure: %s\n", rank_in(process_->comms().resilient()),
               text_of(mpi_error).c_str());
  if (mode == FENIX_UNHANDLED_ABORT) MPI_Abort(MPI_COMM_WORLD, mpi_error);
}

bool Runtime::repair(int mpi_error, int repairs_before) {
  if (repair_is_pending_) return false;
  if (!repairs()) {
    latest_failure_ = mpi_error;
    groups_.keep_buffers();
    if (settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_NOOP) announce_repair(mpi_error);
    return true;
  }
  const Inside inside;
  // One thread repairs. Threads that have met the same failure wait here, and find it repaired.
  const std::lock_guard one_repair(repair_mutex_);
  if (process_->repair().count() != repairs_before) return false;
  // Brings other threads out of their calls.
  teams_.end_copies();
  process_->comms().call_all_to_repair();
  const std::unique_lock alone(calls_);
  latest_failure_ = mpi_error;
  announce_repair(mpi_error);
  process_->repair().allow_spawning(spawns());
  process_->repair().run();
  go_on_after_repair();
  write_outputs();
  return true;
}

bool Runtime::put_off_repair() {
  if (!repairs()) return false;
  process_->comms().call_all_to_repair();
  return true;
}

void Runtime::announce_repair(int mpi_error) {
  repair_is_pending_ = true;
  try {
    run_callbacks(FENIX_CALLBACK_PRE_RECOVERY, mpi_error);
  } catch (...) {
    // The other ranks need this one for the repair.
    thrown_before_repair_ = std::current_exception();
  }
  repair_is_pending_ = false;
}

void Runtime::run_callbacks(Fenix_Callback_location location, int mpi_error) {
  constexpr auto kNever = [] { return false; };
  const bool squash = settings.get(FENIX_CALLBACK_EXCEPTION_MODE) == FENIX_CALLBACK_EXCEPTION_SQUASH;
  callbacks.call_all(location, process_->comms().name(), mpi_error, squash ? failure_exception.is_handled : +kNever);
}

void Runtime::resume(int mpi_error, bool callbacks_due) {
  known_repairs_ = process_->repair().count();
  if (repair_is_pending_ || settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_IGNORE) return;
  const int use = uses_;
  if (callbacks_due) run_callbacks(FENIX_CALLBACK_POST_RECOVERY, mpi_error);
  // A callback may have ended this use of Fenix, and begun another one: there is nothing to resume.
  if (!ready() || uses_ != use) return;
  if (thrown_before_repair_) std::rethrow_exception(std::exchange(thrown_before_repair_, nullptr));
  if (RepeatedCall::here() || (interposer() != nullptr && interposer()->goes_on())) return;
  leave(mpi_error);
}

void Runtime::leave(int mpi_error) {
  const unsigned mode = settings.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN) return;
  if (mode == FENIX_RESUME_JUMP) {
    // There may be no frame to jump to, or it is on another thread's stack.
    if (resume_point_ == nullptr || std::this_thread::get_id() != init_thread_) return;
    callbacks.leave_rounds();
    std::longjmp(*resume_point_, 1);
  }
  failure_exception.raise(process_->comms().name(), error(), mpi_error);
}

}  // namespace fenix_impl
