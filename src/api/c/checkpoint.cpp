// SPDX-License-Identifier: BSD-3-Clause
// Coordinated checkpoints that do not block.
#include <fenix.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/c/attributes.hpp"
#include "api/c/groups.hpp"
#include "base/environment.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "services/counted_messages.hpp"

using namespace fenix_impl;

namespace {

constexpr int kLeastLog = 4096;

Checkpoints& active_checkpoints() {
  require_library("checkpoints need");
  Checkpoints& checkpoints = runtime().checkpoints();
  if (!checkpoints.is_active()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Checkpoint_begin was not called");
  return checkpoints;
}

void check_group(Group& group) {
  const GroupParameters& parameters = group.parameters();
  if (group.attachment().protection().commits_collectively() || parameters.commits_in_place() ||
      parameters.keeps_all()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "group_id: the commits of the group would wait for other ranks: it has parity, commits in place or "
                "keeps all snapshots");
  }
  if (group.ranks().size != size_of(runtime().process().comms().resilient())) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "group_id: the group is not one of all ranks");
  }
}

void check_log_member(const Group& group, int member_id, int log_bytes) {
  if (member_id == FENIX_DATA_MEMBER_ALL) {
    throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", member_id) + " is FENIX_DATA_MEMBER_ALL");
  }
  if (log_bytes < kLeastLog) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("log_bytes", log_bytes) + " is less than 4096");
  }
  const Member* const member = group.find(member_id);
  if (member == nullptr) return;
  require_closed(*member);
  check_type(group, *member, ElementType(MPI_BYTE));
  check_count(group, *member, log_bytes);
}

/// The arguments of Fenix_Checkpoint_begin that are looked at with the other ranks.
struct Wish {
  int member_id = 0;
  int log_bytes = 0;
  bool wants_time_stamp = false;
};

// All ranks meet before anything is changed: an error of one rank is one of all.
void check_begin(Group& group, const Wish& wish) {
  Checkpoints& checkpoints = runtime().checkpoints();
  Team& team = group.attachment().team();
  const auto interval = CheckpointSchedule::interval_of_environment();
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(wish.member_id),
                                       std::bit_cast<std::uint64_t>(interval.value_or(0))};
  std::vector<std::byte> memory;
  together(team, [&] {
    (void)meet(team, Operation::checkpoint_begin, hash_bytes(std::as_bytes(std::span(same_on_all))), 0, [&] {
      if (runtime().region_logs().active() != FENIX_MLOG_NONE || interposer()->must_go_on()) {
        throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "a message log is active");
      }
      check_group(group);
      check_log_member(group, wish.member_id, wish.log_bytes);
      if (!wish.wants_time_stamp && !group.snapshots().on_all().empty()) {
        throw Error(FENIX_ERROR_INVALID_ARGUMENT, "time_stamp is NULL, and there are checkpoints");
      }
      if (!interval) {
        throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                    environment::mistake_in(*environment::Name("FENIX_CHECKPOINT_INTERVAL")));
      }
      memory.resize(static_cast<std::size_t>(wish.log_bytes));
    });
    Checkpoints::require_fixed_sizes(group, wish.member_id);
  });
  checkpoints.take_log_memory(std::move(memory));
}

/// Lists the snapshots that all ranks have, newest first, as rank 0 knows them: another rank may know of one more.
int list_snapshots(int group_id, std::vector<int>& time_stamps) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    time_stamps = group.snapshots().on_all();
    std::sort(time_stamps.rbegin(), time_stamps.rend());
    Team& team = group.attachment().team();
    together(team, [&] { team.broadcast_list(time_stamps, 0); });
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
  int code = ready_entry([&]() -> int {
    require_library("checkpoints need");
    check_begin(runtime().working_group(group_id), {member_id, log_bytes, time_stamp != nullptr});
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS) return code;
  std::byte* const log = runtime().checkpoints().log_memory().data();
  code = Fenix_Data_member_define(group_id, member_id, log, log_bytes, MPI_BYTE);
  if (code != FENIX_SUCCESS) return code;
  // Control may leave by longjmp: no object with a destructor may be here.
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
  if (checkpoints.is_active() && !checkpoints.schedule().is_due()) return FENIX_SUCCESS;
  const bool has_open_calls = checkpoints.is_active() && interposer()->has_open_calls();
  return ready_entry([&]() -> int {
    const bool is_taken = active_checkpoints().take_if_requested(has_open_calls);
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
