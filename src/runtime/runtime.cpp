// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include <cstring>
#include <optional>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/of_thread.hpp"
#include "core/common/meeting.hpp"
#include "recovery/process/surroundings.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

Runtime& runtime() {
  static auto* instance = new Runtime;
  return *instance;
}

LastError& last_error() {
  auto& error = of_thread<LastError>();
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

bool Runtime::repairs() const { return spawns() || settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR; }

bool Runtime::spawns() const { return settings.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_SPAWN; }

int Runtime::error() const {
  if (process_->repair().spawning_failed()) return FENIX_ERROR_SPAWNING_FAILED;
  return process_->members().shrunk() ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS;
}

void Runtime::write_outputs() const {
  known_repairs_ = process_->repair().count();
  if (outputs_.role != nullptr) *outputs_.role = process_->members().role();
  if (outputs_.comm != nullptr) *outputs_.comm = process_->comms().name();
  if (outputs_.error != nullptr) *outputs_.error = error();
  if (fortran_comm_ != nullptr) *fortran_comm_ = MPI_Comm_c2f(process_->comms().name());
}

bool Runtime::repeats_calls() const { return region_logs_.active() != FENIX_MLOG_NONE && repeats_functions_of_logs(); }

// Programs whose logged calls go on catch exceptions of other calls where these come.
bool Runtime::survivors_start_over() const {
  const unsigned mode = settings.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN || repeats_calls()) return false;
  return mode == FENIX_RESUME_JUMP || !repeats_functions_of_logs();
}

bool Runtime::repeats_functions_of_logs() const {
  return !region_logs_.falls_back() && settings.get(FENIX_MLOG_RECOVERY_MODE) != FENIX_MLOG_RECOVERY_MANUAL;
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
