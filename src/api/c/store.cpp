// SPDX-License-Identifier: BSD-3-Clause
// The store behind memory: flush, fetch, datasets.
#include <fenix.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "api/c/groups.hpp"
#include "base/log.hpp"

using namespace fenix_impl;

namespace {

/// Converts the name of a dataset. Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if it cannot be one.
std::string label_of(const char* name) {
  if (name == nullptr) return {};
  const std::size_t length = ::strnlen(name, FENIX_DATASET_NAME_MAX);
  const std::string label(name, length);
  const bool is_one =
      length > 0 && length < FENIX_DATASET_NAME_MAX && std::all_of(label.begin(), label.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
      });
  if (!is_one) {
    throw Error(
        FENIX_ERROR_INVALID_ARGUMENT,
        "name is empty, longer than FENIX_DATASET_NAME_MAX, or has other characters than letters, digits, '.', '_' "
        "and '-'");
  }
  return label;
}

/// A name that is checked later, at the point where the ranks meet.
struct Label {
  explicit Label(const char* name) {
    try {
      text = label_of(name);
    } catch (const Error& refused) {
      error = refused;
    }
  }
  void check() const {
    if (error) throw Error(*error);
  }

  std::string text;
  std::optional<Error> error;
};

void put(const std::string& text, char* to) {
  std::strncpy(to, text.c_str(), FENIX_DATASET_NAME_MAX - 1);
  to[FENIX_DATASET_NAME_MAX - 1] = 0;
}

/// Returns the group of all ranks, by which they agree. Returns null on all ranks if forming the group needs the store, and the store does
/// not answer: that must not end the job.
Group* world_to_ask() {
  try {
    return &runtime().working_group(FENIX_DATA_GROUP_WORLD_ID);
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_STORE) throw;
    log().warn("nobody knows whether the job should end: {}", error.what());
    return nullptr;
  }
}

/// Asks by logged messages: a replacement repeats the answer of its predecessor, and gets the same result.
int need_commit_logged(int group_id, int* flag) {
  int own = 0;
  const int code = ready_entry([&]() -> int {
    require(flag, "flag");
    Group& group = runtime().attached_group(group_id);
    own = runtime().region_logs().answer(DeterminantKind::need_commit, [&group] {
      return runtime().storage().planner().needs_commit_here(group) ||
                     runtime().persistence().checkpoints().log_is_filling()
                 ? 1
                 : 0;
    });
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS) return code;
  const int error = interposer()->greatest_of_all(own, flag, runtime().region_logs().active_comm());
  if (error != MPI_SUCCESS) return FENIX_ERROR_CANCELLED;
  runtime().region_logs().forget_answer();
  return FENIX_SUCCESS;
}

}  // namespace

extern "C" {

int Fenix_Data_flush(int group_id, int time_stamp, const char* name) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Label label(name);
    runtime().storage().flush(group, choice_of(time_stamp), label.text, [&] { label.check(); });
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_iflush(int group_id, int time_stamp, const char* name, Fenix_Request* request) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Label label(name);
    const std::uint64_t flush = runtime().storage().begin_flush(group, choice_of(time_stamp), label.text, [&] {
      require(request, "request");
      label.check();
    });
    *request = {runtime().requests().add_flush(flush, group_id)};
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_flush_state(int group_id, int time_stamp, int* state, MPI_Count* bytes) {
  return ready_entry([&]() -> int {
    Group& group = runtime().group(group_id);
    require(state, "state");
    if (time_stamp < 0 || time_stamp > FENIX_TIME_STAMP_MAX) {
      throw Error(FENIX_ERROR_INVALID_TIMESTAMP, named("time_stamp", time_stamp) + " is out of range");
    }
    (void)runtime().storage().job().keeper();
    const Flushing::Progress progress = runtime().storage().progress(group, time_stamp);
    *state = static_cast<int>(progress.state);
    if (bytes != nullptr) {
      *bytes = progress.state == Flushing::State::writing ? static_cast<MPI_Count>(progress.bytes) : 0;
    }
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_set_flush(int group_id, int every) {
  return ready_entry([&]() -> int {
    Group& group = runtime().group(group_id);
    if (every < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("every", every) + " is negative");
    (void)runtime().storage().job().keeper();
    runtime().storage().set_every(group, every);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_fetch(int group_id, const char* name, int* time_stamp) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Label label(name);
    const int fetched = runtime().storage().start().fetch(group, label.text, [&] { label.check(); });
    if (time_stamp != nullptr) *time_stamp = fetched;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_restart_done(int group_id, int good) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    return runtime().storage().start().end_restart(group, good != 0) ? FENIX_SUCCESS : FENIX_WARNING_RESUMED;
  });
}

int Fenix_Data_get_number_of_datasets(int* number_of_datasets) {
  return ready_entry([&]() -> int {
    require(number_of_datasets, "number_of_datasets");
    Storage& storage = runtime().storage();
    storage.listed() = storage.job().keeper().datasets().list([] {});
    *number_of_datasets = static_cast<int>(storage.listed().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_get_dataset_at_position(int position, char* name, char* label, int* complete) {
  return ready_entry([&]() -> int {
    require(name, "name");
    const auto& listed = runtime().storage().listed();
    const Listed& found = listed[index_of(position, listed.size(), "datasets")];
    put(found.name, name);
    if (label != nullptr) put(found.label, label);
    if (complete != nullptr) *complete = found.is_whole != 0 ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_dataset_delete(const char* name) {
  return ready_entry([&]() -> int {
    require(name, "name");
    const std::string wanted = label_of(name);
    if (runtime().storage().job().keeper().datasets().remove(wanted, [] {})) return FENIX_SUCCESS;
    throw Error(FENIX_ERROR_NODATA_FOUND, "name " + wanted + " is no dataset of the store");
  });
}

int Fenix_Data_dataset_set_current(const char* name) {
  return ready_entry([&]() -> int {
    const std::string wanted = label_of(name);
    if (runtime().storage().job().keeper().datasets().set_current(wanted, [] {})) return FENIX_SUCCESS;
    throw Error(FENIX_ERROR_NODATA_FOUND, "name " + wanted + " is no complete dataset of the store");
  });
}

int Fenix_Data_need_commit(int group_id, int* flag) {
  if (runtime().region_logs().active() != FENIX_MLOG_NONE) return need_commit_logged(group_id, flag);
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const bool is_needed = runtime().storage().planner().needs_commit(group, [&] { require(flag, "flag"); });
    *flag = is_needed ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_should_halt(int* flag) {
  return ready_entry([&]() -> int {
    const auto check = [flag] { require(flag, "flag"); };
    Group* const group = world_to_ask();
    if (group == nullptr) check();
    const bool is_over = group != nullptr && runtime().storage().planner().should_halt(*group, check);
    *flag = is_over ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_halt(const char* reason) {
  return ready_entry([&]() -> int {
    constexpr std::size_t kMostBytes = 1000;
    const std::string text(reason != nullptr ? reason : "", reason != nullptr ? ::strnlen(reason, kMostBytes + 1) : 0);
    if (text.size() > kMostBytes || text.find('\n') != std::string::npos) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "reason is longer than 1000 bytes, or has several lines");
    }
    runtime().storage().planner().halt(text);
    return FENIX_SUCCESS;
  });
}

int Fenix_Process_get_run(int* run, int* origin) {
  return ready_entry([&]() -> int {
    require(run, "run");
    *run = static_cast<int>(runtime().storage().job().run());
    if (origin != nullptr) *origin = static_cast<int>(runtime().storage().job().origin());
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
