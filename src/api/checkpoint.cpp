// SPDX-License-Identifier: BSD-3-Clause
// Coordinated checkpoints that do not block.
#include <fenix.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/counting.hpp"
#include "api/entry.hpp"

using namespace fenix_impl;

namespace {

constexpr int kLeastLog = 4096;

Checkpoints& active_checkpoints() {
  require_library("checkpoints need");
  Checkpoints& checkpoints = runtime().checkpoints();
  if (!checkpoints.is_active()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Checkpoint_begin was not called");
  return checkpoints;
}

int check_begin(int group_id, int log_bytes, const int* time_stamp) {
  return ready_entry([&]() -> int {
    require_library("checkpoints need");
    if (runtime().region_logs().active() != FENIX_MLOG_NONE || interposer()->must_go_on()) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "a message log is active");
    }
    if (log_bytes < kLeastLog) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "log_bytes " + std::to_string(log_bytes) + " is less than 4096");
    }
    Group& group = runtime().working_group(group_id);
    const GroupParameters& parameters = group.parameters();
    if (group.attachment().protection().commits_collectively() || parameters.commits_in_place() ||
        parameters.keeps_all()) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "group_id: the commits of the group would wait for other ranks: it has parity, commits in place or "
                  "keeps all snapshots");
    }
    if (group.ranks().size != size_of(runtime().process().resilient())) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "group_id: the group is not one of all ranks");
    }
    if (time_stamp == nullptr && !group.snapshots().on_all().empty()) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "time_stamp is NULL, and there are checkpoints");
    }
    return FENIX_SUCCESS;
  });
}

/// The snapshots that all ranks have, newest first.
int list_snapshots(int group_id, std::vector<int>& time_stamps) {
  return ready_entry([&]() -> int {
    time_stamps = runtime().working_group(group_id).snapshots().on_all();
    std::sort(time_stamps.rbegin(), time_stamps.rend());
    return FENIX_SUCCESS;
  });
}

int look_at_log(bool is_there, bool& is_usable) {
  return ready_entry([&]() -> int {
    is_usable = runtime().checkpoints().is_usable(is_there);
    return FENIX_SUCCESS;
  });
}

}  // namespace

extern "C" {

int Fenix_Checkpoint_begin(int group_id, int member_id, int log_bytes, int* time_stamp) {
  if (time_stamp != nullptr) *time_stamp = FENIX_CHECKPOINT_NONE;
  int code = check_begin(group_id, log_bytes, time_stamp);
  if (code != FENIX_SUCCESS) return code;
  std::byte* const log = runtime().checkpoints().log_memory(static_cast<std::size_t>(log_bytes)).data();
  code = Fenix_Data_member_define(group_id, member_id, log, log_bytes, MPI_BYTE);
  if (code != FENIX_SUCCESS) return code;
  static std::vector<int> time_stamps;
  code = list_snapshots(group_id, time_stamps);
  if (code != FENIX_SUCCESS) return code;
  int from = FENIX_CHECKPOINT_NONE;
  for (std::size_t i = 0; i < time_stamps.size() && from == FENIX_CHECKPOINT_NONE; ++i) {
    code = Fenix_Data_member_restore(group_id, member_id, log, log_bytes, time_stamps[i], nullptr);
    if (code == FENIX_ERROR_CANCELLED) return code;
    bool is_usable = false;
    code = look_at_log(code >= FENIX_SUCCESS, is_usable);
    if (code != FENIX_SUCCESS) return code;
    if (is_usable) from = time_stamps[i];
  }
  code = ready_entry([&]() -> int {
    runtime().checkpoints().begin(
        from != FENIX_CHECKPOINT_NONE, [group_id]() -> Group& { return runtime().working_group(group_id); }, member_id);
    // Calls that a repair has cut short, and that the program has left behind.
    interposer()->forget_calls();
    interposer()->count_messages(counting_services());
    return FENIX_SUCCESS;
  });
  if (code == FENIX_SUCCESS && time_stamp != nullptr) *time_stamp = from;
  return code;
}

int Fenix_Checkpoint_request(void) {
  return ready_entry([&]() -> int {
    active_checkpoints().request();
    return FENIX_SUCCESS;
  });
}

int Fenix_Checkpoint_potential(int* taken) {
  if (taken != nullptr) *taken = 0;
  Checkpoints& checkpoints = runtime().checkpoints();
  if (checkpoints.is_active() && !checkpoints.is_due()) return FENIX_SUCCESS;
  return ready_entry([&]() -> int {
    const bool is_taken = active_checkpoints().take_if_requested(interposer()->has_open_calls());
    if (taken != nullptr && is_taken) *taken = 1;
    return FENIX_SUCCESS;
  });
}

int Fenix_Checkpoint_count(int* count) {
  return ready_entry([&]() -> int {
    require(count, "count");
    *count = static_cast<int>(active_checkpoints().lines());
    return FENIX_SUCCESS;
  });
}

int Fenix_Checkpoint_finish(void) {
  return ready_entry([&]() -> int {
    active_checkpoints().finish();
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
