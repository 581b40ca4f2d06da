// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/failure_handler.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "interposition/interposer.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"
#include "runtime/call_guards.hpp"

namespace fenix_impl {
namespace {

std::string text_of(int mpi_error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  return text.data();
}

}  // namespace

void FailureHandler::begin() {
  latest_ = MPI_SUCCESS;
  reported_repairs_ = 0;
}

// Waits for a repair that another thread has begun: the communicators must not be looked at in the meantime.
FailureHandler::Finding FailureHandler::look_at(int mpi_error, int repairs_before, bool is_announced,
                                                bool may_be_stale) {
  const auto call = parts_.gate.begin_call();
  const Inside inside;
  Finding found;
  // A failure that has been repaired leaves no other trace than the code.
  found.is_failure = !is_announced && (may_be_stale ? parts_.process.comms().look_for_failures() != MPI_SUCCESS
                                                    : parts_.detector.comes_from_failure(mpi_error));
  found.is_repaired = found.is_failure && parts_.detector.repaired_elsewhere(repairs_before);
  return found;
}

void FailureHandler::on_mpi_error(int mpi_error, MPI_Comm comm) {
  const bool is_announced = FailureDetector::take_announced(mpi_error);
  if (Inside::here() || !parts_.use.ready()) return;
  if (interposer() != nullptr && comm != MPI_COMM_NULL && interposer()->is_stale(comm)) {
    on_stale_error(mpi_error);
    return;
  }
  const int repairs_before = parts_.process.repair().count();
  const bool may_be_stale = interposer() != nullptr && interposer()->gets_stale_errors(comm);
  const Finding found = look_at(mpi_error, repairs_before, is_announced, may_be_stale);
  if (!found.is_failure && may_be_stale) {
    on_stale_error(mpi_error);
    return;
  }
  if (!found.is_failure) {
    if (interposer() == nullptr || !interposer()->call_handler(comm, mpi_error)) report_unhandled(mpi_error);
    return;
  }
  if (interposer() != nullptr && interposer()->must_go_on() && !interposer()->goes_on()) {
    abort_job(JobEnd::begins_again, rank_in(parts_.process.comms().resilient()),
              "a rank has died, and a call was cut short that cannot go on: its messages are not logged");
  }
  const bool repaired = !found.is_repaired && repair(mpi_error, repairs_before);
  parts_.continuation.resume(mpi_error, repaired);
}

// There is nothing to be repaired: a pending request ends with the error. If another thread has repaired, this one resumes where all
// do.
void FailureHandler::on_stale_error(int mpi_error) {
  FailureDetector::announce_error(MPI_SUCCESS);
  if (Inside::here() || !parts_.use.ready()) return;
  bool knows = false;
  {
    const auto repair_is_over = parts_.gate.begin_call();
    knows = parts_.detector.knows_latest();
  }
  if (knows) {
    report_stale_call();
  } else {
    parts_.continuation.resume(mpi_error, /*callbacks_due=*/false);
  }
}

// Once after each repair: a program that does not look at codes would never see that nothing is sent. With libfenix_mpi, communicators
// need not be derived again.
void FailureHandler::report_stale_call() {
  if (interposer() != nullptr || parts_.settings.get(FENIX_UNHANDLED_MODE) == FENIX_UNHANDLED_SILENT) return;
  if (const int repairs = parts_.process.repair().count(); reported_repairs_.exchange(repairs) == repairs) return;
  std::fprintf(stderr, "fenix: a call returned an error because its communicator or request is from before a repair\n");
}

void FailureHandler::report_unhandled(int mpi_error) const {
  const unsigned mode = parts_.settings.get(FENIX_UNHANDLED_MODE);
  if (mode == FENIX_UNHANDLED_SILENT) return;
  std::fprintf(stderr, "fenix: rank %d: MPI error that is not a failure: %s\n",
               rank_in(parts_.process.comms().resilient()), text_of(mpi_error).c_str());
  if (mode == FENIX_UNHANDLED_ABORT) MPI_Abort(MPI_COMM_WORLD, mpi_error);
}

bool FailureHandler::repair(int mpi_error, int repairs_before) {
  if (CallGate::is_repair_pending()) return false;
  if (!parts_.policy.repairs()) {
    latest_ = mpi_error;
    parts_.groups.keep_buffers();
    if (parts_.settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_NOOP) parts_.continuation.announce_repair(mpi_error);
    return true;
  }
  const Inside inside;
  // One thread repairs. Threads that have met the same failure wait here, and find it repaired.
  const std::lock_guard one_repair(repair_mutex_);
  if (parts_.process.repair().count() != repairs_before) return false;
  // Brings other threads out of their calls.
  parts_.teams.end_copies();
  parts_.process.comms().call_all_to_repair();
  const auto alone = parts_.gate.begin_repair();
  latest_ = mpi_error;
  parts_.continuation.announce_repair(mpi_error);
  parts_.process.repair().allow_spawning(parts_.policy.spawns());
  parts_.process.repair().run();
  parts_.resumption.run();
  parts_.outputs.write();
  return true;
}

bool FailureHandler::put_off_repair() {
  if (!parts_.policy.repairs()) return false;
  parts_.process.comms().call_all_to_repair();
  return true;
}

void FailureHandler::resume_after_repair() {
  latest_ = MPI_ERR_PROC_FAILED;
  parts_.resumption.run();
}

}  // namespace fenix_impl
