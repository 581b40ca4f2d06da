// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/runtime.hpp"

#include <pthread.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "recovery/comm_functions.hpp"
#include "recovery/derived.hpp"
#include "recovery/draining.hpp"
#include "recovery/interposer.hpp"
#include "recovery/job_end.hpp"
#include "recovery/surroundings.hpp"
#include "rma/freeing.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/window_files.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kInChild = "called in a child of fork: Fenix is in use by its parent";

void handle_mpi_error(MPI_Comm* comm, int* error, ...) { runtime().on_mpi_error(*error, *comm); }

void handle_past_error(MPI_Comm*, int* error, ...) { runtime().on_past_error(*error); }

// Programs whose logged calls go on catch exceptions of other calls where these come.
bool survivors_start_over() {
  const unsigned mode = runtime().settings.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN || runtime().repeats_calls()) return false;
  return mode == FENIX_RESUME_JUMP || !runtime().repeats_functions_of_logs();
}

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
  all = {pass_fault_point, survivors_start_over, Runtime::announce_error,
         note_refusal,     free_unseen,          runtime().persist_services};
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

std::string text_of_dead(const std::vector<int>& ranks) {
  if (ranks.empty()) return "a rank has died";
  const std::string first = "rank " + std::to_string(ranks.front());
  return ranks.size() == 1 ? first + " has died"
                           : first + " and " + std::to_string(ranks.size() - 1) + " more have died";
}

std::string text_of(int mpi_error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  return text.data();
}

}  // namespace

Runtime& runtime() {
  static auto* instance = new Runtime;
  return *instance;
}

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

thread_local int Runtime::Inside::depth_ = 0;
thread_local int Runtime::RepeatedCall::depth_ = 0;
thread_local bool Runtime::repair_is_pending_ = false;
thread_local std::exception_ptr Runtime::thrown_before_repair_;
thread_local int Runtime::known_repairs_ = 0;
thread_local int Runtime::announced_error_ = MPI_SUCCESS;
thread_local std::optional<int> Runtime::Inside::working_group_id_;

void Runtime::require_ready() const {
  if (!initialized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called before Fenix_Init");
  if (finalized_) throw Error(FENIX_ERROR_UNINITIALIZED, is_child_ ? kInChild : "called after Fenix_Finalize");
}

void Runtime::give_up_in_child() noexcept {
  if (!ready()) return;
  is_child_ = true;
  finalized_ = true;
  // Locks that other threads of the parent held are never released here.
  has_threads_ = false;
}

void Runtime::require_no_repair(const char* call) {
  if (!repair_is_pending_) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, std::string(call) + " in a callback before a repair");
}

void Runtime::set_option(int setting, unsigned option) {
  if (ready() && resume_point_ == nullptr && setting == FENIX_RESUME_MODE && option == FENIX_RESUME_JUMP) {
    throw Error(FENIX_ERROR_INVALID_SETTING_OPTION,
                "option FENIX_RESUME_JUMP needs the macro Fenix_Init: there is no place to jump to");
  }
  settings.set(setting, option);
}

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
  process_->set_spawn_keys(keys);
  ++uses_;
  // A new process comes to the earlier calls first. The program has to expect that they return in a spare, and that has nothing to give
  // to this one but MPI_COMM_WORLD.
  int same = MPI_IDENT;
  if (uses_ > 1) MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
  process_->set_use(uses_ > 1 && (spares_exit_ || same == MPI_UNEQUAL) ? 0 : uses_);
  process_->ask_in_repairs([this] { return answers_in_repairs(); });
  outputs_ = outputs;
  // With newcomm NULL, comm is the name of the resilient communicator.
  if (interposer() != nullptr) {
    interposer()->start(services(), outputs.comm == nullptr ? comm : MPI_COMM_NULL, process_->resilient());
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
  process_->allow_spawning(spawns());
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

bool Runtime::repairs() const { return spawns() || settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR; }

bool Runtime::spawns() const { return settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_SPAWN; }

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
    environment::check();
    if (outputs.comm == nullptr && interposer() == nullptr) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL, which needs the library libfenix_mpi before MPI");
    }
    if (outputs.role == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role is NULL");
    if (own.spares < 0 || own.spares >= own.size) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "spare_ranks " + std::to_string(own.spares) + " is not in [0, size of comm)");
    }
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
  const AllSurroundings surroundings(std::move(all));
  surroundings.check();
  surroundings.warn(rank, ignored);
  if (rank == 0) surroundings.tell(own.size - own.spares, own.spares);
}

void Runtime::serve_as_spare() {
  if (!ready() || !process_->is_spare()) return;
  const Inside inside;
  process_->allow_spawning(spawns());
  // Nobody waits for a spare now; for a replacement all would.
  teams_.prepare_paths();
  const bool active = process_->wait_as_spare(settings.get(FENIX_SPARE_WAIT_MODE), repairs());
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
  MPI_Group spares = process_->group_of_spares();
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
  if (!storage_.drains() || process_->is_spare()) return;
  const Inside inside;
  try {
    // A rank that has died in Fenix_Init is missing.
    if (process_->shrunk()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
    fenix_impl::drain(*process_, teams_, groups_, storage_);
    if (!finish()) throw Error(FENIX_ERROR_CANCELLED, "a rank has died");
  } catch (const std::exception& error) {
    give_up_drain(error.what());
  }
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

int Runtime::error() const {
  if (process_->spawning_failed()) return FENIX_ERROR_SPAWNING_FAILED;
  return process_->shrunk() ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS;
}

void Runtime::write_outputs() const {
  known_repairs_ = process_->repairs();
  if (outputs_.role != nullptr) *outputs_.role = process_->role();
  if (outputs_.comm != nullptr) *outputs_.comm = process_->name();
  if (outputs_.error != nullptr) *outputs_.error = error();
  if (fortran_comm_ != nullptr) *fortran_comm_ = MPI_Comm_c2f(process_->name());
}

bool Runtime::finish() {
  const Inside inside;
  process_->allow_spawning(spawns());
  const auto announce = [this] { announce_repair(MPI_ERR_PROC_FAILED); };
  if (!process_->finish(repairs(), announce, /*before_end=*/[this] {
        note_exiting_spares();
        checkpoints_.clear();
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
  if (process_->repairs() > 0) remove_window_files(getpid());
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
  has_seen_death_ = has_seen_death_ || process_->repairs() > 0 || !process_->failed().empty() ||
                    !known_failed(MPI_COMM_WORLD).empty();
  const bool waits_for_program = process_->is_spare() && spares_exit_;
  if (!has_seen_death_ && !waits_for_program) change_action_of_broken_pipes(let_write_fail, SIG_DFL);
  settings = settings_before_use_;
  fortran_comm_ = nullptr;
  finalized_ = true;
}

bool Runtime::comes_from_failure(int mpi_error) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (!ready()) return false;
  if (is_failure(mpi_error)) return true;
  const Deadline deadline(is_vague(mpi_error) ? kTimeForNotice : std::chrono::milliseconds(0));
  do {
    if (process_->look_for_failures() != MPI_SUCCESS) return true;
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
  const int repairs_before = process_->repairs();
  bool failure = false;
  bool elsewhere = false;
  {
    // Waits for a repair that another thread has begun: the communicators must not be looked at in the meantime.
    const auto call = begin_call();
    const Inside inside;
    failure = !is_announced && comes_from_failure(mpi_error);
    elsewhere = failure && repaired_elsewhere(repairs_before);
  }
  if (!failure) {
    if (interposer() == nullptr || !interposer()->call_handler(comm, mpi_error)) report_unhandled(mpi_error);
    return;
  }
  if (interposer() != nullptr && interposer()->must_go_on() && !interposer()->goes_on()) {
    abort_job(JobEnd::begins_again, rank_in(process_->resilient()),
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
    knows = known_repairs_ == process_->repairs();
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
  if (const int repairs = process_->repairs(); reported_repairs_.exchange(repairs) == repairs) return;
  std::fprintf(stderr, "fenix: a call returned an error because its communicator or request is from before a repair\n");
}

// With several threads, the error may come from a communicator that another thread has repaired in the meantime: then
// the present one is in order.
bool Runtime::repaired_elsewhere(int repairs_before) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (process_->repairs() != repairs_before) return true;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || repairs_before == 0) return false;
  for (const Deadline deadline(kTimeForNotice); !deadline.passed();) {
    if (process_->look_for_failures() != MPI_SUCCESS) return false;
  }
  return true;
}

void Runtime::report_unhandled(int mpi_error) const {
  const unsigned mode = settings.get(FENIX_UNHANDLED_MODE);
  if (mode == FENIX_UNHANDLED_SILENT) return;
  std::fprintf(stderr, "fenix: MPI error that is not a failure: %s\n", text_of(mpi_error).c_str());
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
  if (process_->repairs() != repairs_before) return false;
  // Brings other threads out of their calls.
  teams_.end_copies();
  process_->call_all_to_repair();
  const std::unique_lock alone(calls_);
  latest_failure_ = mpi_error;
  announce_repair(mpi_error);
  process_->allow_spawning(spawns());
  process_->repair();
  go_on_after_repair();
  write_outputs();
  return true;
}

bool Runtime::put_off_repair() {
  if (!repairs()) return false;
  process_->call_all_to_repair();
  return true;
}

int Runtime::answers_in_repairs() const {
  return (groups_.uses_world() ? Process::kUsesWorld : 0) |
         (groups_.has_pending_commits() ? Process::kHasPendingCommits : 0) |
         (owes_recovered_role_ ? Process::kOwesRecoveredRole : 0) |
         (persistence_.in_use() ? Process::kUsesPersistence : 0) |
         (persistence_.lacks_messages() || region_logs_.falls_back() ? Process::kLacksMessages : 0);
}

// Does what has to be done before control resumes. Programs that need nothing of it pay nothing.
void Runtime::go_on_after_repair() {
  detach_all();
  owes_recovered_role_ = process_->role() == FENIX_ROLE_RECOVERED_RANK;
  for (VainTurns turns; !try_to_go_on();) {
    process_->repair();
    if (process_->failed().empty()) {
      turns.note_turn(process_->resilient());
    } else {
      turns.note_death();
    }
    detach_all();
    owes_recovered_role_ = owes_recovered_role_ || process_->role() == FENIX_ROLE_RECOVERED_RANK;
  }
  owes_recovered_role_ = false;
}

void Runtime::detach_all() {
  groups_.detach_all();
  const bool falls_back = (process_->some_said_yes() & Process::kLacksMessages) != 0;
  if (falls_back) {
    end_job_that_cannot_go_back("logs lack messages that are needed, as there was no room");
    log().log(warning_of_all(rank_in(process_->resilient())),
              "a log of messages lacks some that are needed: all ranks have to go back");
    region_logs_.fall_back();
  }
  // A program that knows nothing of Fenix does not know either that it has fewer ranks now.
  if (process_->shrunk()) end_job_without_spares();
  const bool starts_over = survivors_start_over();
  persistence_.detach(starts_over);
  region_logs_.note_repair(starts_over);
  checkpoints_.clear();
  if (process_->role() == FENIX_ROLE_RECOVERED_RANK) persistence_.note_replacement();
}

// Returns false if a rank has died.
bool Runtime::try_to_go_on() {
  if (process_->some_said_yes() == 0) return true;
  try {
    process_->restore_recovered_roles(owes_recovered_role_);
    if ((process_->some_said_yes() & Process::kHasPendingCommits) != 0) {
      process_->run_with_active([this](Team& team) { groups_.settle_commits(team); });
    }
    if ((process_->some_said_yes() & Process::kUsesWorld) != 0) take_up_world();
    if ((process_->some_said_yes() & Process::kUsesPersistence) != 0) take_up_persistence();
    return true;
  } catch (const PeerFailure&) {
    return false;
  } catch (const MpiError& error) {
    if (comes_from_failure(error.mpi_error())) return false;
    log().warn("after the repair: {}", error.what());
  } catch (const std::exception& error) {
    log().warn("after the repair: {}", error.what());
  }
  // The group is settled when it is taken up.
  groups_.keep_buffers();
  return true;
}

// Local functions find the group of all ranks on replacements, too, when control resumes. After an error that is no failure, the first
// collective call tries again.
void Runtime::take_up_world() {
  try {
    groups_.form_world();
    fault_point("world.formed");
  } catch (const MpiError&) {
    throw;
  } catch (const PeerFailure&) {
    throw;
  } catch (const std::exception& error) {
    log().warn("FENIX_DATA_GROUP_WORLD_ID could not be taken up: {}", error.what());
  }
}

// After an error that is no failure, messages on persistent communicators are refused.
void Runtime::take_up_persistence() {
  try {
    const bool falls_back = (process_->some_said_yes() & Process::kLacksMessages) != 0;
    persistence_.take_up(falls_back, [this](const char* why) {
      end_job_that_cannot_go_back(why);
      log().log(warning_of_all(rank_in(process_->resilient())), "a rank has died, and {}: all ranks have to go back",
                why);
      region_logs_.fall_back();
      const bool starts_over = survivors_start_over();
      persistence_.note_start_over(starts_over);
      region_logs_.note_repair(starts_over);
    });
    fault_point("persist.taken_up");
  } catch (const MpiError&) {
    throw;
  } catch (const std::exception& error) {
    if (dynamic_cast<const PeerFailure*>(&error) != nullptr) throw;
    log().warn("what was stored on persistent communicators could not be taken up: {}", error.what());
  }
}

void Runtime::end_job_that_cannot_go_back(const char* why) const {
  if (interposer() == nullptr || !interposer()->must_go_on()) return;
  const int rank = rank_in(process_->resilient());
  abort_job(JobEnd::begins_again, rank,
            text_of_dead(process_->failed()) + ", and " + why + ": the job has to begin again", /*waits=*/rank != 0);
}

void Runtime::end_job_without_spares() const {
  end_job_that_cannot_go_back("no spare process is left to take its place");
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
  callbacks.call_all(location, process_->name(), mpi_error, squash ? failure_exception.is_handled : +kNever);
}

void Runtime::resume(int mpi_error, bool callbacks_due) {
  known_repairs_ = process_->repairs();
  if (repair_is_pending_ || settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_IGNORE) return;
  const int use = uses_;
  if (callbacks_due) run_callbacks(FENIX_CALLBACK_POST_RECOVERY, mpi_error);
  // A callback may have ended this use of Fenix, and begun another one: there is nothing to resume.
  if (!ready() || uses_ != use) return;
  if (thrown_before_repair_) std::rethrow_exception(std::exchange(thrown_before_repair_, nullptr));
  if (RepeatedCall::here() || (interposer() != nullptr && interposer()->goes_on())) return;
  leave(mpi_error);
}

bool Runtime::repeats_calls() const { return region_logs_.active() != FENIX_MLOG_NONE && repeats_functions_of_logs(); }

bool Runtime::repeats_functions_of_logs() const {
  return !region_logs_.falls_back() && settings.get(FENIX_MLOG_RECOVERY_MODE) != FENIX_MLOG_RECOVERY_MANUAL;
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
  failure_exception.raise(process_->name(), error(), mpi_error);
}

void Runtime::withdraw_from_call() const noexcept {
  if (!Inside::working_group_id_) return;
  if (Group* group = groups_.find(*Inside::working_group_id_)) group->attachment().withdraw();
}

Group& Runtime::working_group(int group_id) {
  Inside::working_group_id_ = group_id;
  if (group_id == FENIX_DATA_GROUP_WORLD_ID) {
    const Group* world = groups_.find(group_id);
    if (world == nullptr || !world->attached()) groups_.form_world();
  }
  return attached_group(group_id);
}

void Runtime::make_consistent(int group_id) {
  Group* deleted = groups_.find(group_id);
  Group& found = deleted != nullptr && deleted->is_deleted() ? *deleted : working_group(group_id);
  if (found.make_consistent()) return;
  groups_.erase(group_id);
}

}  // namespace fenix_impl
