// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/runtime.hpp"

#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "recovery/interposer.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/window_files.hpp"

namespace fenix_impl {
namespace {

// All ranks have come when the agreement begins.
constexpr double kTimeoutsOfAnAgreement = 4;

void handle_mpi_error(MPI_Comm* comm, int* error, ...) { runtime().on_mpi_error(*error, *comm); }

bool survivors_start_over() { return runtime().settings.get(FENIX_RESUME_MODE) != FENIX_RESUME_RETURN; }

void pass_fault_point(const char* name) { fault_point(name); }

constexpr InterposerServices kServices = {pass_fault_point, survivors_start_over};

// Ignores SIGPIPE, which would end this process: Open MPI's TCP component writes to sockets of processes that have
// died. A handler of the application stays.
void ignore_broken_pipes() {
  struct sigaction action {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
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

std::string& last_message() {
  static thread_local std::string message;
  return message;
}

thread_local int Runtime::Inside::depth_ = 0;
thread_local std::optional<int> Runtime::Inside::working_group_id_;

void Runtime::require_ready() const {
  if (!initialized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called before Fenix_Init");
  if (finalized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called after Fenix_Finalize");
}

void Runtime::start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs,
                    std::jmp_buf* resume_point) {
  const Inside inside;
  // Checked without the others: spares would never come to a check of all.
  if (initialized_) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Init was called before");
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  // Checked alone as well: Open MPI takes an agreement on it for the first one on MPI_COMM_WORLD, which then never
  // ends.
  if (comm == MPI_COMM_SELF) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_SELF");
  ignore_broken_pipes();
  const QuietComm quiet(comm);
  if (is_replacement()) {
    start_as_replacement(comm, spawn, info, outputs, resume_point);
    return;
  }
  std::optional<Error> error;
  try {
    check_start(comm, spares, spawn, info, outputs);
    check_mpi(MPI_Comm_create_errhandler(handle_mpi_error, &handler_), "MPI_Comm_create_errhandler");
    process_.start(comm, spares, handler_);
  } catch (const MpiError& mpi_error) {
    error = Error(FENIX_ERROR_NOCATEGORY, mpi_error.what());
  } catch (const Error& bad_argument) {
    error = bad_argument;
  } catch (const PeerFailure&) {
    error = Error(FENIX_ERROR_NOCATEGORY, "a rank has died during Fenix_Init");
  }
  if (error && error->code() == FENIX_ERROR_NOCATEGORY) {
    // There is nothing yet that could be repaired. The others must not wait for this rank.
    process_.abandon_start();
    MPIX_Comm_revoke(comm);
  }
  const SilenceWatch::Wait wait(process_.watch(), SilenceWatch::Wait::Kind::any);
  const LastResort resort(kTimeoutsOfAnAgreement);
  fault_point("init.end");
  // All begin, or none does; later deaths are repaired.
  int begin = error ? 0 : 1;
  MPIX_Comm_agree(comm, &begin);
  if (error) throw Error(*error);
  if (begin == 0) throw Error(FENIX_ERROR_NOCATEGORY, "a rank has died during Fenix_Init");
  begin_with(comm, spawn, info, outputs, resume_point);
}

void Runtime::begin_with(MPI_Comm comm, int spawn, MPI_Info info, const Outputs& outputs, std::jmp_buf* resume_point) {
  settings.take(info);
  if (spawn != 0 && settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR) {
    settings.set(FENIX_RECOVERY_MODE, FENIX_RECOVERY_SPAWN);
  }
  // The application may free its own info.
  MPI_Info keys = MPI_INFO_NULL;
  if (info != MPI_INFO_NULL) MPI_Info_dup(info, &keys);
  process_.set_spawn_keys(keys);
  outputs_ = outputs;
  // With newcomm NULL, comm is the name of the resilient communicator.
  if (interposer() != nullptr) {
    interposer()->start(&kServices, outputs.comm == nullptr ? comm : MPI_COMM_NULL, process_.resilient());
  }
  resume_point_ = resume_point;
  init_thread_ = std::this_thread::get_id();
  initialized_ = true;
}

// The program has been here before, with the same arguments: they are not checked again.
void Runtime::start_as_replacement(MPI_Comm comm, int spawn, MPI_Info info, const Outputs& outputs,
                                   std::jmp_buf* resume_point) {
  begin_with(comm, spawn, info, outputs, resume_point);
  check_mpi(MPI_Comm_create_errhandler(handle_mpi_error, &handler_), "MPI_Comm_create_errhandler");
  process_.allow_spawning(spawns());
  if (process_.start_as_replacement(handler_)) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    return;
  }
  finalized_ = true;
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

bool Runtime::repairs() const { return spawns() || settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR; }

bool Runtime::spawns() const { return settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_SPAWN; }

void Runtime::check_start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs) {
  struct Note {
    std::int32_t code = 0;
    std::int32_t spares = 0;
    std::int32_t spawn = 0;
    std::array<char, 120> text{};
  };
  int size = 0;
  MPI_Comm_size(comm, &size);
  Note mine;
  mine.spares = spares;
  mine.spawn = spawn != 0 ? 1 : 0;
  try {
    if (outputs.comm == nullptr && interposer() == nullptr) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL, which needs the library libfenix_mpi before MPI");
    }
    if (outputs.role == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role is NULL");
    if (spares < 0 || spares >= size) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "spare_ranks " + std::to_string(spares) + " is not in [0, size of comm)");
    }
    Settings(settings).take(info);  // may throw: nothing is changed yet
  } catch (const Error& error) {
    mine.code = error.code();
    std::strncpy(mine.text.data(), error.what(), mine.text.size() - 1);
  }
  std::vector<Note> notes(static_cast<std::size_t>(size));
  fault_point("init.begin");
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, notes.data(), sizeof mine, MPI_BYTE, comm), "MPI_Allgather");
  if (mine.code != 0) throw Error(static_cast<Fenix_Return_codes>(mine.code), mine.text.data());
  for (std::size_t rank = 0; rank < notes.size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank);
    if (notes[rank].code != 0) {
      throw Error(static_cast<Fenix_Return_codes>(notes[rank].code), who + ": " + notes[rank].text.data());
    }
    if (notes[rank].spares != notes[0].spares) {
      throw Error(FENIX_ERROR_MISMATCH, who + " and rank 0 gave different spare_ranks");
    }
    if (notes[rank].spawn != notes[0].spawn) {
      throw Error(FENIX_ERROR_MISMATCH, who + " and rank 0 gave different values of spawn");
    }
  }
}

void Runtime::serve_as_spare() {
  if (!process_.is_spare()) return;
  const Inside inside;
  process_.allow_spawning(spawns());
  const bool active = process_.wait_as_spare(settings.get(FENIX_SPARE_WAIT_MODE), repairs());
  // A failure that led here happened to other ranks: any error that they saw will do.
  if (active) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    return;
  }
  finalized_ = true;
  if (settings.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_RELEASE) {
    write_outputs();
    return;
  }
  const LastResort resort;
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

int Runtime::error() const {
  if (process_.spawning_failed()) return FENIX_ERROR_SPAWNING_FAILED;
  return process_.shrunk() ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS;
}

void Runtime::write_outputs() const {
  if (outputs_.role != nullptr) *outputs_.role = process_.role();
  if (outputs_.comm != nullptr) *outputs_.comm = process_.name();
  if (outputs_.error != nullptr) *outputs_.error = error();
  if (fortran_comm_ != nullptr) *fortran_comm_ = MPI_Comm_c2f(process_.name());
}

bool Runtime::finish() {
  const Inside inside;
  process_.allow_spawning(spawns());
  if (!process_.finish(repairs(), /*before_end=*/[this] { groups_.clear(); })) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    groups_.detach_all();
    write_outputs();
    return false;
  }
  groups_.close_paths();
  // Removes files of windows that could not be made because a rank died: Open MPI leaves them.
  if (process_.repairs() > 0) remove_window_files(getpid());
  callbacks.clear();
  attachments.clear();
  MPI_Errhandler_free(&handler_);
  finalized_ = true;
  return true;
}

bool Runtime::comes_from_failure(int mpi_error) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (!ready()) return false;
  if (is_failure(mpi_error)) return true;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  const bool vague = error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN || error_class == MPI_ERR_UNKNOWN ||
                     error_class == MPI_ERR_WIN || error_class == MPI_ERR_COMM;
  const Deadline deadline(vague ? kTimeForNotice : std::chrono::milliseconds(0));
  do {
    if (process_.look_for_failures() != MPI_SUCCESS) return true;
  } while (!deadline.passed());
  return false;
}

void Runtime::on_mpi_error(int mpi_error, MPI_Comm comm) {
  if (Inside::here()) return;
  // A request from before a repair: it ends with the error, and there is nothing to be repaired.
  if (interposer() != nullptr && comm != MPI_COMM_NULL && interposer()->is_past(comm)) return;
  const int repairs_before = process_.repairs();
  bool failure = false;
  bool elsewhere = false;
  {
    // Waits for a repair that another thread has begun: the communicators must not be looked at in the meantime.
    const auto call = begin_call();
    const Inside inside;
    failure = comes_from_failure(mpi_error);
    elsewhere = failure && repaired_elsewhere(repairs_before);
  }
  if (!failure) {
    if (interposer() == nullptr || !interposer()->call_handler(comm, mpi_error)) report_unhandled(mpi_error);
    return;
  }
  const bool repaired = !elsewhere && repair(mpi_error, repairs_before);
  resume(mpi_error, repaired);
}

// With several threads, the error may come from a communicator that another thread has repaired in the meantime: then
// the present one is in order.
bool Runtime::repaired_elsewhere(int repairs_before) const {
  constexpr std::chrono::milliseconds kTimeForNotice{500};
  if (process_.repairs() != repairs_before) return true;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || repairs_before == 0) return false;
  for (const Deadline deadline(kTimeForNotice); !deadline.passed();) {
    if (process_.look_for_failures() != MPI_SUCCESS) return false;
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
  if (!repairs()) {
    latest_failure_ = mpi_error;
    return true;
  }
  const Inside inside;
  // One thread repairs. Threads that have met the same failure wait here, and find it repaired.
  const std::lock_guard one_repair(repair_mutex_);
  if (process_.repairs() != repairs_before) return false;
  // Brings other threads out of their calls.
  process_.call_all_to_repair();
  const std::unique_lock alone(calls_);
  latest_failure_ = mpi_error;
  process_.allow_spawning(spawns());
  process_.repair();
  groups_.detach_all();
  write_outputs();
  return true;
}

void Runtime::run_callbacks(int mpi_error) {
  const bool squash = settings.get(FENIX_CALLBACK_EXCEPTION_MODE) == FENIX_CALLBACK_EXCEPTION_SQUASH;
  callbacks.call_all([&](const Callbacks::Function& callback) {
    const auto call = [&] { callback(process_.name(), mpi_error); };
    if (squash) {
      failure_exception.drop(call);
    } else {
      call();
    }
  });
}

void Runtime::resume(int mpi_error, bool callbacks_due) {
  if (settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_IGNORE) return;
  if (callbacks_due) run_callbacks(mpi_error);
  const unsigned mode = settings.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN) return;
  if (mode == FENIX_RESUME_JUMP && resume_point_ != nullptr) {
    // The frame to jump to is on another thread's stack.
    if (std::this_thread::get_id() != init_thread_) return;
    std::longjmp(*resume_point_, 1);
  }
  failure_exception.raise(process_.name(), mpi_error);
}

void Runtime::withdraw_from_call() const noexcept {
  if (!Inside::working_group_id_) return;
  if (Group* group = groups_.find(*Inside::working_group_id_)) group->attachment().withdraw();
}

Group& Runtime::working_group(int group_id) {
  Inside::working_group_id_ = group_id;
  if (group_id == FENIX_DATA_GROUP_WORLD_ID) {
    const Group* world = groups_.find(group_id);
    if (world == nullptr || !world->attached()) {
      (void)groups_.create({group_id, 0, 0, {Policy::Kind::ring, Policy::kChosen}}, process_.resilient(), [] {});
    }
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
