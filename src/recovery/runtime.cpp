// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/runtime.hpp"

#include <fenix.hpp>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "rma/map_path.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/window_path.hpp"

namespace fenix_impl {
namespace {

void handle_mpi_error(MPI_Comm*, int* error, ...) { runtime().on_mpi_error(*error); }

std::shared_ptr<Path> choose_path(const MpiTeam& team) {
  const char* wanted = std::getenv("FENIX_PATH");
  const std::string_view name = wanted != nullptr ? wanted : "auto";
  if (name == "window") return std::make_shared<WindowPath>();
  if (name == "map" && !team.on_one_node()) {
    throw Error(FENIX_ERROR_GROUP_CREATE, "FENIX_PATH is map, but the ranks of comm are on several nodes");
  }
  if (name != "map" && name != "auto") {
    throw Error(FENIX_ERROR_GROUP_CREATE, "FENIX_PATH is neither auto, map nor window");
  }
  if (team.on_one_node()) return std::make_shared<MapPath>();
  return std::make_shared<WindowPath>();
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

void Runtime::require_ready() const {
  if (!initialized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called before Fenix_Init");
  if (finalized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called after Fenix_Finalize");
}

void Runtime::start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs,
                    std::jmp_buf* resume_point) {
  const Inside inside(*this);
  // Not found out together with the others: spares would never come to it.
  if (initialized_) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Init was called before");
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  const QuietComm quiet(comm);
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
  fault_point("init.end");
  // All begin, or none does; later deaths are repaired.
  int begin = error ? 0 : 1;
  MPIX_Comm_agree(comm, &begin);
  if (error) throw Error(*error);
  if (begin == 0) throw Error(FENIX_ERROR_NOCATEGORY, "a rank has died during Fenix_Init");
  settings.take(info);
  outputs_ = outputs;
  resume_point_ = resume_point;
  initialized_ = true;
}

void Runtime::check_start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs) {
  struct Note {
    std::int32_t code = 0;
    std::int32_t spares = 0;
    std::array<char, 120> text{};
  };
  int size = 0;
  MPI_Comm_size(comm, &size);
  Note mine;
  mine.spares = spares;
  try {
    if (comm == MPI_COMM_SELF) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_SELF");
    if (outputs.comm == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL");
    if (outputs.role == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role is NULL");
    if (spares < 0 || spares >= size) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "spare_ranks " + std::to_string(spares) + " is not in [0, size of comm)");
    }
    if (spawn != 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "spawn is not 0: this version does not spawn ranks");
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
  }
}

void Runtime::serve_as_spare() {
  if (!process_.is_spare()) return;
  const Inside inside(*this);
  const bool repairs = settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR;
  const bool active = process_.wait_as_spare(settings.get(FENIX_SPARE_WAIT_MODE), repairs);
  // A failure that led here happened to others; what they saw of it is as good as any.
  if (active) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    return;
  }
  finalized_ = true;
  if (settings.get(FENIX_SPARE_FINALIZE_MODE) == FENIX_SPARE_FINALIZE_RELEASE) {
    write_outputs();
    return;
  }
  MPI_Finalize();
  std::exit(EXIT_SUCCESS);
}

int Runtime::error() const { return process_.shrunk() ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS; }

void Runtime::write_outputs() const {
  if (outputs_.role != nullptr) *outputs_.role = process_.role();
  if (outputs_.comm != nullptr) *outputs_.comm = process_.resilient();
  if (outputs_.error != nullptr) *outputs_.error = error();
}

bool Runtime::finish() {
  const Inside inside(*this);
  const bool repairs = settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR;
  if (!process_.finish(repairs, /*before_end=*/[this] { groups_.clear(); })) {
    latest_failure_ = MPI_ERR_PROC_FAILED;
    for (auto& [id, group] : groups_) group->detach();
    write_outputs();
    return false;
  }
  callbacks.clear();
  MPI_Errhandler_free(&handler_);
  finalized_ = true;
  return true;
}

bool Runtime::comes_from_failure(int mpi_error) const {
  constexpr std::chrono::milliseconds kNoticeTakes{500};
  if (!ready()) return false;
  if (is_failure(mpi_error)) return true;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  const bool vague = error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN || error_class == MPI_ERR_UNKNOWN ||
                     error_class == MPI_ERR_WIN || error_class == MPI_ERR_COMM;
  const Deadline deadline(vague ? kNoticeTakes : std::chrono::milliseconds(0));
  do {
    if (process_.look_for_failures() != MPI_SUCCESS) return true;
  } while (!deadline.passed());
  return false;
}

void Runtime::on_mpi_error(int mpi_error) {
  if (inside_ > 0) return;
  bool failure = false;
  {
    const Inside inside(*this);
    failure = comes_from_failure(mpi_error);
  }
  if (!failure) {
    report_unhandled(mpi_error);
    return;
  }
  repair(mpi_error);
  resume(mpi_error);
}

void Runtime::report_unhandled(int mpi_error) const {
  const unsigned mode = settings.get(FENIX_UNHANDLED_MODE);
  if (mode == FENIX_UNHANDLED_SILENT) return;
  std::fprintf(stderr, "fenix: MPI error that is not a failure: %s\n", text_of(mpi_error).c_str());
  if (mode == FENIX_UNHANDLED_ABORT) MPI_Abort(MPI_COMM_WORLD, mpi_error);
}

void Runtime::repair(int mpi_error) {
  latest_failure_ = mpi_error;
  if (settings.get(FENIX_RECOVERY_MODE) != FENIX_RECOVERY_REPAIR) return;
  const Inside inside(*this);
  process_.repair();
  for (auto& [id, group] : groups_) group->detach();
  write_outputs();
}

void Runtime::run_callbacks(int mpi_error) {
  const bool squash = settings.get(FENIX_CALLBACK_EXCEPTION_MODE) == FENIX_CALLBACK_EXCEPTION_SQUASH;
  callbacks.call_all([&](const Callbacks::Function& callback) {
    try {
      callback(process_.resilient(), mpi_error);
    } catch (const fenix::CommException&) {
      if (!squash) throw;
    }
  });
}

void Runtime::resume(int mpi_error) {
  if (settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_IGNORE) return;
  run_callbacks(mpi_error);
  const unsigned mode = settings.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN) return;
  if (mode == FENIX_RESUME_JUMP && resume_point_ != nullptr) std::longjmp(*resume_point_, 1);
  throw fenix::CommException(process_.resilient(), mpi_error);
}

RejoinResult Runtime::create_group(const GroupParameters& parameters, MPI_Comm comm,
                                   const std::function<void()>& check_arguments) {
  auto team = std::make_shared<MpiTeam>(comm, process_.resilient());
  std::unique_ptr<Group>& group = groups_[parameters.id];
  const bool known_before = group != nullptr;
  try {
    return rejoin(group, parameters, check_arguments, team, [&] { return choose_path(*team); });
  } catch (const Error& error) {
    // The work with a group that could not be formed leaves nothing behind; an existing one waits to be taken up again.
    if (!known_before && dynamic_cast<const MpiError*>(&error) == nullptr) groups_.erase(parameters.id);
    keep_only_whole(parameters.id);
    throw;
  } catch (...) {
    // A failure: what this rank has got may be the only copy there is.
    keep_only_whole(parameters.id);
    throw;
  }
}

void Runtime::keep_only_whole(int group_id) {
  const auto found = groups_.find(group_id);
  if (found == groups_.end()) return;
  if (!found->second || !found->second->whole()) {
    groups_.erase(found);
  } else {
    found->second->detach();
  }
}

bool Runtime::has_group(int group_id) const { return groups_.count(group_id) != 0; }

Group& Runtime::group(int group_id) const {
  const auto found = groups_.find(group_id);
  if (found == groups_.end() || !found->second) {
    throw Error(FENIX_ERROR_INVALID_GROUPID, "group_id " + std::to_string(group_id) + " does not exist on this rank");
  }
  return *found->second;
}

Group& Runtime::working_group(int group_id) const {
  Group& found = group(group_id);
  if (!found.attached()) {
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                "group_id " + std::to_string(group_id) + " has to be created again, after a repair or a time-out");
  }
  return found;
}

}  // namespace fenix_impl
