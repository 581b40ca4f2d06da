// SPDX-License-Identifier: BSD-3-Clause
// The begin and the end of the use of Fenix.
#include "runtime/runtime.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/environment_checks.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "core/common/meeting.hpp"
#include "interposition/interposer.hpp"
#include "recovery/groups/draining.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/derived.hpp"
#include "recovery/process/surroundings.hpp"
#include "rma/freeing.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/window_files.hpp"

namespace fenix_impl {
namespace {

void handle_mpi_error(MPI_Comm* comm, int* error, ...) { runtime().on_mpi_error(*error, *comm); }

void handle_past_error(MPI_Comm*, int* error, ...) { runtime().on_past_error(*error); }

void pass_fault_point(const char* name) { fault_point(name); }

void note_refusal(const char* why) {
  try {
    last_error().text = why;
  } catch (const std::bad_alloc&) {
    last_error().text.clear();
  }
}

// libfenix_mpi keeps a pointer to it.
const InterposerServices* services() {
  static InterposerServices all;
  all = {.fault_point = pass_fault_point,
         .survivors_start_over = [] { return runtime().survivors_start_over(); },
         .announce_error = Runtime::announce_error,
         .note_refusal = note_refusal,
         .free_unseen = free_unseen,
         .persist = runtime().persist_services};
  return &all;
}

// Only the write fails. Programs that this process starts do not inherit a handler, as they would SIG_IGN.
void let_write_fail(int) {}

// SIGPIPE would end this process: Open MPI's TCP component writes to sockets of processes that have died. A handler of the
// application stays.
void change_action_of_broken_pipes(void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(SIGPIPE, nullptr, &action) != 0 || action.sa_handler != from) return;
  action.sa_handler = to;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

constexpr std::chrono::duration<double> kTimeToFlush{10};

// Ends a process that calls exit() while Fenix is in use: MPI reports only processes that a signal has ended. It runs after
// the functions that the program has registered with atexit. Children of fork() are left alone.
__attribute__((destructor)) void die_instead_of_leaving() {
  int ended = 0;
  if (!runtime().in_use_by(getpid())) return;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  // Another thread may hold a stream in which it waits for input.
  const LastResort resort(std::min<double>(1, kTimeToFlush / std::chrono::duration<double>(Deadline::timeout())));
  std::fflush(stdout);
  std::fflush(stderr);
  std::fflush(nullptr);
  std::raise(SIGKILL);
}

// A child of fork() has the memory that ranks share, and the sockets of MPI: it must not use them.
void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { runtime().give_up_in_child(); });
  if (registered != 0) throw std::bad_alloc();
}

}  // namespace

void Runtime::start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs,
                    std::jmp_buf* resume_point) {
  const Inside inside;
  // Checked without the others: spares would never come to a check of all.
  if (ready()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Init was called before, and Fenix_Finalize was not");
  if (is_child_) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, kInChild);
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  // Checked alone as well: Open MPI takes an agreement on it for the first one on MPI_COMM_WORLD, which then never
  // ends.
  if (comm == MPI_COMM_SELF) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_SELF");
  if (is_replacement() && uses_ + 1 < use_of_replacement()) {
    pass_as_released_spare(outputs);
    return;
  }
  change_action_of_broken_pipes(SIG_DFL, let_write_fail);
  const QuietComm quiet(comm);
  require_no_exited_spares(comm);
  note_outsiders();
  watch_forks();
  process_.emplace();
  storage_.begin();
  check_mpi(MPI_Comm_create_errhandler(handle_mpi_error, &handlers_.present), "MPI_Comm_create_errhandler");
  check_mpi(MPI_Comm_create_errhandler(handle_past_error, &handlers_.past), "MPI_Comm_create_errhandler");
  check_mpi(MPI_Comm_create_errhandler(handle_mpi_error, &copying_handler_), "MPI_Comm_create_errhandler");
  teams_.begin(handlers_.present, copying_handler_);
  Settings taken = settings;
  auto ignored = taken.take(info);
  if (is_replacement()) {
    // The program has been here before, with the same arguments: they are not checked again.
    begin_with(comm, spawn, info, taken, outputs, resume_point);
    start_as_replacement();
    return;
  }
  int size = 0;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const StartArguments arguments{rank,
                                 size,
                                 spares,
                                 spawn,
                                 taken.get(FENIX_RESUME_MODE),
                                 taken.get(FENIX_UNHANDLED_MODE),
                                 taken.get(FENIX_RECOVERY_MODE),
                                 taken.get(FENIX_SPARE_FINALIZE_MODE),
                                 0,
                                 storage_.drains() ? 1U : 0U};
  process_->start(comm, spares, handlers_, [&](MPI_Comm living) { check_start(living, arguments, outputs, ignored); });
  begin_with(comm, spawn, info, taken, outputs, resume_point);
}

void Runtime::begin_with(MPI_Comm comm, int spawn, MPI_Info info, const Settings& taken, const Outputs& outputs,
                         std::jmp_buf* resume_point) {
  settings_before_use_ = settings;
  settings = taken;
  if (spawn != 0 && settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR) {
    settings.set(FENIX_RECOVERY_MODE, FENIX_RECOVERY_SPAWN);
  }
  spares_exit_ = settings.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_EXIT;
  // The target of a jump is a frame of the application.
  if (resume_point == nullptr && settings.get(FENIX_RESUME_MODE) == FENIX_RESUME_JUMP) {
    settings.set(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  }
  // The application may free its own info.
  MPI_Info keys = MPI_INFO_NULL;
  if (info != MPI_INFO_NULL) MPI_Info_dup(info, &keys);
  process_->repair().reinforcement().set_keys(keys);
  ++uses_;
  // A new process comes to the earlier calls first. The program has to expect that they return in a spare, and that has nothing to give
  // to this one but MPI_COMM_WORLD.
  int same = MPI_IDENT;
  if (uses_ > 1) MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
  process_->repair().reinforcement().set_use(uses_ > 1 && (spares_exit_ || same == MPI_UNEQUAL) ? 0 : uses_);
  process_->repair().ask([this] { return answers_in_repairs(); });
  outputs_ = outputs;
  // With newcomm NULL, comm is the name of the resilient communicator.
  if (interposer() != nullptr) {
    interposer()->start(services(), outputs.comm == nullptr ? comm : MPI_COMM_NULL, process_->comms().resilient());
  }
  resume_point_ = resume_point;
  init_thread_ = std::this_thread::get_id();
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  has_threads_ = level == MPI_THREAD_MULTIPLE;
  persistence_.expect_threads(has_threads_);
  process_id_ = getpid();
  latest_failure_ = MPI_SUCCESS;
  reported_repairs_ = 0;
  thrown_before_repair_ = nullptr;
  initialized_ = true;
  finalized_ = false;
}

// This process was spawned in a later use of Fenix.
void Runtime::pass_as_released_spare(const Outputs& outputs) {
  ++uses_;
  initialized_ = true;
  finalized_ = true;
  process_.emplace();
  process_->pass_as_spare();
  outputs_ = outputs;
  write_outputs();
}

void Runtime::start_as_replacement() {
  process_->repair().allow_spawning(spawns());
  if (process_->start_as_replacement(handlers_)) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    go_on_after_repair();
    return;
  }
  finalized_ = true;
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

void Runtime::check_arguments(const StartArguments& own, const Outputs& outputs) {
  environment::check();
  if (outputs.comm == nullptr && interposer() == nullptr) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL, which needs the library libfenix_mpi before MPI");
  }
  if (outputs.role == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role is NULL");
  if (own.spares < 0 || own.spares >= own.size) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "spare_ranks " + std::to_string(own.spares) + " is not in [0, size of comm)");
  }
}

void Runtime::check_start(MPI_Comm living, StartArguments own, const Outputs& outputs,
                          std::vector<std::string> ignored) {
  struct Note {
    std::int32_t code = 0;
    StartArguments arguments;
    Surroundings surroundings;
    std::array<char, 240> text{};
  };
  Note mine;
  int rank = 0;
  MPI_Comm_rank(living, &rank);
  if (rank == 0) own.run = storage_.begin_run();
  mine.arguments = own;
  for (auto& each : environment::ignored()) ignored.push_back(std::move(each));
  mine.surroundings = Surroundings::here(ignored);
  try {
    check_arguments(own, outputs);
  } catch (const Error& error) {
    mine.code = error.code();
    std::strncpy(mine.text.data(), error.what(), mine.text.size() - 1);
  }
  std::vector<Note> notes(static_cast<std::size_t>(size_of(living)));
  fault_point("init.begin");
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, notes.data(), sizeof mine, MPI_BYTE, living), "MPI_Allgather");
  if (mine.code != 0) throw Error(static_cast<Fenix_Return_codes>(mine.code), mine.text.data());
  const Note& first = notes.front();
  storage_.adopt_run(first.arguments.run);
  const std::string first_rank = "rank " + std::to_string(first.arguments.rank);
  for (const Note& note : notes) {
    const std::string who = "rank " + std::to_string(note.arguments.rank);
    if (note.code != 0) {
      throw Error(static_cast<Fenix_Return_codes>(note.code), who + ": " + note.text.data());
    }
    const auto require_same = [&](bool same, const char* what) {
      if (!same) throw Error(FENIX_ERROR_MISMATCH, who + " and " + first_rank + " gave different values of " + what);
    };
    require_same(note.arguments.spares == first.arguments.spares, "spare_ranks");
    require_same((note.arguments.spawn != 0) == (first.arguments.spawn != 0), "spawn");
    require_same(note.arguments.resume_mode == first.arguments.resume_mode, "FENIX_RESUME_MODE in info");
    require_same(note.arguments.recovery_mode == first.arguments.recovery_mode, "FENIX_RECOVERY_MODE");
    require_same(note.arguments.spare_finalize_mode == first.arguments.spare_finalize_mode,
                 "FENIX_SPARE_FINALIZE_MODE");
    require_same(note.arguments.drains == first.arguments.drains, "FENIX_DRAIN");
    require_same(note.arguments.unhandled_mode == first.arguments.unhandled_mode, "FENIX_UNHANDLED_MODE in info");
  }
  std::vector<Surroundings> all;
  std::transform(notes.begin(), notes.end(), std::back_inserter(all),
                 [](const Note& each) { return each.surroundings; });
  compare(AllSurroundings(std::move(all)), rank, own, ignored);
}

void Runtime::compare(const AllSurroundings& surroundings, int rank, const StartArguments& own,
                      std::span<const std::string> ignored) {
  surroundings.check();
  const bool is_transparent = interposer() != nullptr && interposer()->must_go_on();
  if (is_transparent && own.spares > 0) surroundings.require_one_program();
  surroundings.warn(rank, ignored);
  if (rank == 0) surroundings.tell(own.size - own.spares, own.spares);
}

void Runtime::serve_as_spare() {
  if (!ready() || !process_->members().is_spare()) return;
  const Inside inside;
  process_->repair().allow_spawning(spawns());
  // Nobody waits for a spare now; for a replacement all would.
  teams_.prepare_paths();
  const bool active = process_->standby().wait(settings.get(FENIX_SPARE_WAIT_MODE), repairs());
  // A failure that led here happened to other ranks: any error that they saw will do.
  if (active) {
    if (storage_.drains()) give_up_drain("a rank has died");
    latest_failure_ = MPI_ERR_PROC_FAILED;
    go_on_after_repair();
    return;
  }
  teams_.close_paths();
  const bool release = settings.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_RELEASE && !storage_.drains();
  end_of_use();
  if (release) {
    write_outputs();
    return;
  }
  // It waits for the active ranks, which may work on for long.
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

void Runtime::note_exiting_spares() {
  if (!spares_exit_) return;
  MPI_Group spares = process_->members().group_of_spares(process_->comms().world());
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group_union(exited_spares_, spares, &all);
  MPI_Group_free(&spares);
  if (exited_spares_ != MPI_GROUP_EMPTY) MPI_Group_free(&exited_spares_);
  exited_spares_ = all;
}

// They are inside of MPI_Finalize: MPI takes them for living, and would wait for them without an end.
void Runtime::require_no_exited_spares(MPI_Comm comm) const {
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Group both = MPI_GROUP_NULL;
  int exited = 0;
  check_mpi(MPI_Comm_group(comm, &theirs), "MPI_Comm_group");
  MPI_Group_intersection(theirs, exited_spares_, &both);
  MPI_Group_size(both, &exited);
  MPI_Group_free(&theirs);
  MPI_Group_free(&both);
  if (exited == 0) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm has " + std::to_string(exited) +
                                                " spare ranks of an earlier use of Fenix, which have exited: see "
                                                "FENIX_SPARE_FINALIZE_RELEASE");
}

void Runtime::give_up_drain(const char* why) {
  std::fprintf(stderr, "fenix: FENIX_DRAIN: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

// Nothing can be mended here: if a rank dies, the keepers still have the memory, and a new job may try again.
void Runtime::drain() {
  if (!storage_.drains() || process_->members().is_spare()) return;
  const Inside inside;
  try {
    // A rank that has died in Fenix_Init is missing.
    if (process_->members().shrunk()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
    fenix_impl::drain(*process_, teams_, groups_, storage_);
    if (!finish()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
  } catch (const std::exception& error) {
    give_up_drain(error.what());
  }
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

bool Runtime::finish() {
  const Inside inside;
  process_->repair().allow_spawning(spawns());
  const auto announce = [this] { announce_repair(MPI_ERR_PROC_FAILED); };
  if (!process_->finish(repairs(), announce, /*before_end=*/[this] {
        note_exiting_spares();
        checkpoints_.clear();
        storage_.finish(/*is_first=*/rank_in(process_->comms().resilient()) == 0);
        groups_.clear();
        region_logs_.clear();
        persistence_.clear();
      })) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    go_on_after_repair();
    write_outputs();
    return false;
  }
  teams_.close_paths();
  // Removes files of windows that could not be made because a rank died: Open MPI leaves them.
  if (process_->repair().count() > 0) remove_window_files(getpid());
  end_of_use();
  return true;
}

void Runtime::end_of_use() {
  callbacks.clear();
  attachments.clear();
  requests_.clear();
  MPI_Errhandler_free(&handlers_.present);
  MPI_Errhandler_free(&handlers_.past);
  MPI_Errhandler_free(&copying_handler_);
  // After a death MPI_Finalize may still write to dead processes. A spare that exits waits there for the whole program.
  has_seen_death_ = has_seen_death_ || process_->repair().count() > 0 || !process_->members().failed().empty() ||
                    !known_failed(MPI_COMM_WORLD).empty();
  const bool waits_for_program = process_->members().is_spare() && spares_exit_;
  if (!has_seen_death_ && !waits_for_program) change_action_of_broken_pipes(let_write_fail, SIG_DFL);
  settings = settings_before_use_;
  fortran_comm_ = nullptr;
  finalized_ = true;
}

}  // namespace fenix_impl
