// SPDX-License-Identifier: BSD-3-Clause
// Message logging, by the names of the current Fenix.
#include <fenix.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/simd/hash.hpp"
#include "messages/options.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace {

template <class Body>
int log_entry(Body&& body) {
  return ready_entry([&]() -> int {
    require_library("message logging needs");
    body(runtime().region_logs());
    return FENIX_SUCCESS;
  });
}

template <class Body>
int repeat_entry(Body&& body) {
  const Runtime::RepeatedCall repeated;
  int code = FENIX_SUCCESS;
  do {
    code = log_entry(body);
  } while (code == FENIX_ERROR_CANCELLED && runtime().policy().repeats_functions_of_logs());
  return code;
}

/// Does the same as log_entry(), and goes on after a failure if calls do.
template <class Body>
int lasting_entry(Body&& body) {
  if (!runtime().policy().repeats_functions_of_logs()) return log_entry(body);
  const int code = repeat_entry(body);
  // All ranks have to go back.
  if (code == FENIX_ERROR_CANCELLED) runtime().continuation().leave(runtime().failures().latest());
  return code;
}

/// Writes or reads the state of a log, for the member of a data group. A restore that has no buffer only helps other ranks.
void serialize(FILE* file, int direction, void* buffer, MPI_Count, MPI_Count count, void* context) {
  if (buffer == nullptr) return;
  const int id = static_cast<int>(reinterpret_cast<std::intptr_t>(context));
  RegionLogs& logs = runtime().region_logs();
  if (direction == FENIX_SERIALIZE) {
    const std::vector<std::byte> state = logs.store_state(id);
    if (std::fwrite(state.data(), 1, state.size(), file) != state.size()) {
      throw Error(FENIX_ERROR_NO_MEMORY, "the state of a message log cannot be written");
    }
    return;
  }
  std::vector<std::byte> state(static_cast<std::size_t>(count));
  state.resize(std::fread(state.data(), 1, state.size(), file));
  logs.restore(id, state);
}

void* context_of(int mlog_id) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(mlog_id)); }

/// The buffer of all members for logs: it only says that a restore is for this rank.
char own_log = 0;

/// Messages that were late at the checkpoint leave when the log is active: others may wait for them. Outside of the entry, as a failure meanwhile
/// is repaired there.
int with_late_messages(int code) {
  if (code == FENIX_SUCCESS) interposer()->send_what_waits();
  return code;
}

int check_log(int mlog_id) {
  return log_entry([&](const RegionLogs& logs) {
    if (!logs.has(mlog_id))
      throw Error(FENIX_ERROR_INVALID_MLOGID, "mlog_id " + std::to_string(mlog_id) + " does not exist");
  });
}

}  // namespace

extern "C" {

int Fenix_Mlog_create(int mlog_id, MPI_Comm* comm, int depth) {
  return log_entry([&](RegionLogs& logs) {
    require(comm, "comm");
    if (mlog_id < 0) throw Error(FENIX_ERROR_INVALID_MLOGID, "mlog_id " + std::to_string(mlog_id) + " is negative");
    if (depth < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "depth " + std::to_string(depth) + " is negative");
    const std::uint64_t number = *comm != MPI_COMM_NULL ? interposer()->number_of(*comm) : 0;
    if (number == 0) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is neither the resilient communicator nor derived from it");
    }
    const std::uint64_t comm_id =
        hash_bytes(std::as_bytes(std::span(&number, 1)), static_cast<std::uint64_t>(mlog_id) + 1);
    LogOptions options = log_options_of_environment();
    // Messages that have not been received at a checkpoint are stored with it.
    if (!options.copies) options.copies = 0;
    // The program learns of a death where it next needs other ranks.
    const auto create_after_repair = [&] {
      if (!runtime().failures().put_off_repair()) throw;
      logs.create_after_repair(mlog_id, *comm, comm_id, depth, options);
    };
    try {
      logs.create(mlog_id, *comm, comm_id, depth, options);
    } catch (const PeerFailure&) {
      create_after_repair();
    } catch (const MpiError& error) {
      if (!runtime().detector().comes_from_failure(error.mpi_error())) throw;
      create_after_repair();
    }
  });
}

int Fenix_Mlog_activate(int mlog_id) {
  return with_late_messages(log_entry([&](RegionLogs& logs) { logs.activate(mlog_id); }));
}

int Fenix_Mlog_active(int* mlog_id) {
  if (mlog_id != nullptr) *mlog_id = FENIX_MLOG_NONE;
  return ready_entry([&]() -> int {
    require(mlog_id, "mlog_id");
    require_library("message logging needs");
    *mlog_id = runtime().region_logs().active();
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_begin_region(int mlog_id, int region_id) {
  return lasting_entry([&](RegionLogs& logs) { logs.begin_region(mlog_id, region_id); });
}

int Fenix_Mlog_activate_region(int mlog_id, int region_id) {
  return with_late_messages(lasting_entry([&](RegionLogs& logs) {
    logs.begin_region(mlog_id, region_id);
    logs.activate(mlog_id);
  }));
}

int Fenix_Mlog_sync(int mlog_id, int region_id) {
  return lasting_entry([&](RegionLogs& logs) { logs.sync(mlog_id, region_id); });
}

int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id) {
  const int code = check_log(mlog_id);
  if (code != FENIX_SUCCESS) return code;
  return Fenix_Data_member_fcreate_c(group_id, member_id, &own_log, FENIX_RESIZEABLE, MPI_BYTE, serialize,
                                     context_of(mlog_id));
}

int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id) {
  const int code = check_log(mlog_id);
  if (code != FENIX_SUCCESS) return code;
  return Fenix_Data_member_fdefine_c(group_id, member_id, &own_log, FENIX_RESIZEABLE, MPI_BYTE, serialize,
                                     context_of(mlog_id));
}

int Fenix_Mlog_stage(int mlog_id, int group_id, int member_id) {
  const int code = Fenix_Mlog_define_data_member(mlog_id, group_id, member_id);
  return code != FENIX_SUCCESS ? code : Fenix_Data_member_stage(group_id, member_id, FENIX_DATA_SUBSET_FULL);
}

int Fenix_Mlog_lrestore(int mlog_id, int group_id, int member_id, int time_stamp) {
  const int code = Fenix_Mlog_define_data_member(mlog_id, group_id, member_id);
  if (code != FENIX_SUCCESS) return code;
  return Fenix_Data_member_lrestore(group_id, member_id, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                    time_stamp, nullptr);
}

int Fenix_Mlog_delete(int mlog_id) {
  return log_entry([&](RegionLogs& logs) { logs.remove(mlog_id); });
}

}  // extern "C"
