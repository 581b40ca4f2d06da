// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/lifecycle.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "base/error.hpp"
#include "base/last_resort.hpp"
#include "recovery/groups/draining.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/derived.hpp"
#include "recovery/process/spawn/spawning.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/window_files.hpp"
#include "runtime/broken_pipes.hpp"
#include "runtime/call_guards.hpp"
#include "runtime/start_check.hpp"

namespace fenix_impl {

// ---------------------------------------------------------------------------------------------------------------------- start

void Lifecycle::start(const StartRequest& request) {
  const MPI_Comm comm = request.comm;
  const Inside inside;
  // Checked without the others: spares would never come to a check of all.
  use_.require_none();
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  // Checked alone as well: Open MPI takes an agreement on it for the first one on MPI_COMM_WORLD, which then never
  // ends.
  if (comm == MPI_COMM_SELF) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_SELF");
  if (is_replacement() && use_.count() + 1 < use_of_replacement()) {
    pass_as_released_spare(request.outputs);
    return;
  }
  survive_broken_pipes();
  const QuietComm quiet(comm);
  exited_spares_.require_none_in(comm);
  note_outsiders();
  hooks_.watch_forks();
  process_.emplace();
  subsystems_.storage.begin();
  make_handlers();
  Settings taken = settings_;
  auto ignored = taken.take(request.info);
  if (is_replacement()) {
    // The program has been here before, with the same arguments: they are not checked again.
    begin_with(request, taken);
    start_as_replacement();
    return;
  }
  int size = 0;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const StartArguments arguments{rank,
                                 size,
                                 request.spares,
                                 request.spawn,
                                 taken.get(FENIX_RESUME_MODE),
                                 taken.get(FENIX_UNHANDLED_MODE),
                                 taken.get(FENIX_RECOVERY_MODE),
                                 taken.get(FENIX_SPARE_FINALIZE_MODE),
                                 0,
                                 subsystems_.storage.job().drains() ? 1U : 0U};
  process_->start(comm, request.spares, handlers_, [&](MPI_Comm living) {
    check_start(living, arguments, request.outputs, ignored, subsystems_.storage);
  });
  begin_with(request, taken);
}

void Lifecycle::make_handlers() {
  check_mpi(MPI_Comm_create_errhandler(hooks_.on_error, &handlers_.present), "MPI_Comm_create_errhandler");
  check_mpi(MPI_Comm_create_errhandler(hooks_.on_stale_error, &handlers_.stale), "MPI_Comm_create_errhandler");
  check_mpi(MPI_Comm_create_errhandler(hooks_.on_error, &copying_handler_), "MPI_Comm_create_errhandler");
  subsystems_.teams.begin(handlers_.present, copying_handler_);
}

void Lifecycle::begin_with(const StartRequest& request, const Settings& taken) {
  take_settings(request, taken);
  take_use(request);
  recovery_.resumption.begin();
  recovery_.outputs.set(request.outputs);
  // With newcomm NULL, comm is the name of the resilient communicator.
  if (interposer() != nullptr) {
    interposer()->start(hooks_.services(), request.outputs.comm == nullptr ? request.comm : MPI_COMM_NULL,
                        process_->comms().resilient());
  }
  recovery_.continuation.begin(request.resume_point);
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  const bool has_threads = level == MPI_THREAD_MULTIPLE;
  recovery_.gate.expect_threads(has_threads);
  subsystems_.persistence.expect_threads(has_threads);
  recovery_.failures.begin();
  use_.begin();
}

void Lifecycle::take_settings(const StartRequest& request, const Settings& taken) {
  settings_before_use_ = settings_;
  settings_ = taken;
  if (request.spawn != 0 && settings_.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR) {
    settings_.set(FENIX_RECOVERY_MODE, FENIX_RECOVERY_SPAWN);
  }
  exited_spares_.expect_exits(settings_.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_EXIT);
  // The target of a jump is a frame of the application.
  if (request.resume_point == nullptr && settings_.get(FENIX_RESUME_MODE) == FENIX_RESUME_JUMP) {
    settings_.set(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  }
}

void Lifecycle::take_use(const StartRequest& request) {
  // The application may free its own info.
  MPI_Info keys = MPI_INFO_NULL;
  if (request.info != MPI_INFO_NULL) MPI_Info_dup(request.info, &keys);
  Reinforcement& reinforcement = process_->repair().reinforcement();
  reinforcement.set_keys(keys);
  use_.count_one();
  // A new process comes to the earlier calls first. The program has to expect that they return in a spare, and that has nothing to give
  // to this one but MPI_COMM_WORLD.
  const int use = use_.count();
  int same = MPI_IDENT;
  if (use > 1) MPI_Comm_compare(request.comm, MPI_COMM_WORLD, &same);
  reinforcement.set_use(use > 1 && (exited_spares_.expects_exits() || same == MPI_UNEQUAL) ? 0 : use);
}

// This process was spawned in a later use of Fenix.
void Lifecycle::pass_as_released_spare(const Outputs& outputs) {
  use_.pass();
  process_.emplace();
  process_->pass_as_spare();
  recovery_.outputs.set(outputs);
  recovery_.outputs.write();
}

void Lifecycle::start_as_replacement() {
  process_->repair().allow_spawning(recovery_.policy.spawns());
  if (process_->start_as_replacement(handlers_)) {
    recovery_.failures.resume_after_repair();
    return;
  }
  use_.end();
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------ spares, drains

void Lifecycle::serve_as_spare() {
  if (!use_.ready() || !process_->members().is_spare()) return;
  const Inside inside;
  process_->repair().allow_spawning(recovery_.policy.spawns());
  // Nobody waits for a spare now; for a replacement all would.
  subsystems_.teams.prepare_paths();
  const bool active = process_->standby().wait(settings_.get(FENIX_SPARE_WAIT_MODE), recovery_.policy.repairs());
  if (active) {
    if (subsystems_.storage.job().drains()) give_up_drain("a rank has died");
    recovery_.failures.resume_after_repair();
    return;
  }
  subsystems_.teams.close_paths();
  const bool release =
      settings_.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_RELEASE && !subsystems_.storage.job().drains();
  end_of_use();
  if (release) {
    recovery_.outputs.write();
    return;
  }
  // It waits for the active ranks, which may work on for long.
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

void Lifecycle::give_up_drain(const char* why) {
  std::fprintf(stderr, "fenix: FENIX_DRAIN: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

// Nothing can be mended here: if a rank dies, the keepers still have the memory, and a new job may try again.
void Lifecycle::drain() {
  if (!subsystems_.storage.job().drains() || process_->members().is_spare()) return;
  const Inside inside;
  try {
    // A rank that has died in Fenix_Init is missing.
    if (process_->members().shrunk()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
    fenix_impl::drain(*process_, subsystems_.teams, subsystems_.groups, subsystems_.storage);
    if (!finish()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
  } catch (const std::exception& error) {
    give_up_drain(error.what());
  }
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------------------ end

// The order of the end:
//  1. All active ranks agree to finish, or repair instead. Until then nothing has ended.
//  2. The group of the spares that exit is kept, as the world still has them.
//  3. Checkpoints stop counting in libfenix_mpi, and leave their requests. They refer to a group.
//  4. The store waits for what it writes, which is in the memory of groups.
//  5. Groups end, then the logs of regions, which are in the journals, then the journals.
//  6. The communicators get the handler MPI_ERRORS_RETURN, the world is freed, and nobody is watched any more: Process::finish.
//  7. The network closes when no team uses it any more, and files of windows that were never made are removed.
//  8. Callbacks, attachments and requests of the program go. Then error handlers are freed, which no communicator needs now.
//  9. SIGPIPE ends the process again if nobody has died. The settings are those from before the use, and the use is over.
bool Lifecycle::finish() {
  const Inside inside;
  process_->repair().allow_spawning(recovery_.policy.spawns());
  const auto announce = [this] { recovery_.continuation.announce_repair(MPI_ERR_PROC_FAILED); };
  if (!process_->finish(recovery_.policy.repairs(), announce, /*before_end=*/[this] { end_subsystems(); })) {
    recovery_.failures.resume_after_repair();
    recovery_.outputs.write();
    return false;
  }
  subsystems_.teams.close_paths();
  // Removes files of windows that could not be made because a rank died: Open MPI leaves them.
  if (process_->repair().count() > 0) remove_window_files(getpid());
  end_of_use();
  return true;
}

void Lifecycle::end_subsystems() {
  exited_spares_.note(*process_);
  subsystems_.checkpoints.clear();
  subsystems_.storage.finish(/*is_first=*/rank_in(process_->comms().resilient()) == 0);
  subsystems_.groups.clear();
  subsystems_.region_logs.clear();
  subsystems_.persistence.clear();
}

void Lifecycle::end_of_use() {
  subsystems_.callbacks.clear();
  subsystems_.attachments.clear();
  subsystems_.requests.clear();
  MPI_Errhandler_free(&handlers_.present);
  MPI_Errhandler_free(&handlers_.stale);
  MPI_Errhandler_free(&copying_handler_);
  // After a death MPI_Finalize may still write to dead processes. A spare that exits waits there for the whole program.
  has_seen_failure_ = has_seen_failure_ || process_->repair().count() > 0 || !process_->members().failed().empty() ||
                      !known_failed(MPI_COMM_WORLD).empty();
  const bool waits_for_program = process_->members().is_spare() && exited_spares_.expects_exits();
  if (!has_seen_failure_ && !waits_for_program) die_of_broken_pipes();
  settings_ = settings_before_use_;
  recovery_.outputs.write_comm_also_to(nullptr);
  use_.end();
}

}  // namespace fenix_impl
