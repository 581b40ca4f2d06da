// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/guards.hpp"

#include <mpi-ext.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/unlogged.hpp"

namespace fenix_impl {
namespace {

/// The communicator of a window or a file.
struct Guard {
  MPI_Comm working = MPI_COMM_NULL;  ///< as it was then
  MPI_Comm meeting = MPI_COMM_NULL;  ///< of a file: its members meet there before they work together
  unsigned repairs = 0;              ///< before it was made: each repair replaces all communicators
};

template <class Handle>
struct Guards {
  std::mutex mutex;
  std::unordered_map<Handle, Guard> by_handle;
  std::atomic<bool> any = false;
};

Guards<MPI_Win>& windows() {
  static auto* instance = new Guards<MPI_Win>;
  return *instance;
}

Guards<MPI_File>& files() {
  static auto* instance = new Guards<MPI_File>;
  return *instance;
}

template <class Handle>
void add(Guards<Handle>& guards, Handle handle, const Guard& guard) {
  const std::lock_guard lock(guards.mutex);
  guards.by_handle[handle] = guard;
  guards.any = true;
}

/// Returns the guard of a window or file; one without communicators if it has none.
template <class Handle>
Guard find(Guards<Handle>& guards, Handle handle) {
  if (!guards.any.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(guards.mutex);
  const auto found = guards.by_handle.find(handle);
  return found != guards.by_handle.end() ? found->second : Guard();
}

template <class Handle>
void remove(Guards<Handle>& guards, Handle handle) {
  const std::lock_guard lock(guards.mutex);
  guards.by_handle.erase(handle);
}

/// Whether the program names one of the registry's communicators by this handle.
bool is_guarded(MPI_Comm name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.find(name) != nullptr;
}

bool is_stale(const Guard& guard) { return guard.repairs != registry().repairs.load(std::memory_order_acquire); }

/// Lets MPI hear of deaths, which it does only when it makes progress. That takes time where ranks share a core: not in every call.
/// Returns false if it was done a moment ago.
bool listen() {
  constexpr std::chrono::milliseconds kPause{10};
  constexpr int kRounds = 12;
  static std::atomic<std::chrono::steady_clock::rep> latest = 0;
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  if (time.count() - latest.load(std::memory_order_relaxed) < std::chrono::steady_clock::duration(kPause).count())
    return false;
  for (int round = 0; round < kRounds; ++round) {
    int found = 0;
    real.Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  }
  latest.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  return true;
}

bool has_failed_members(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  int count = 0;
  if (real.MPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return true;
  real.Group_size(failed, &count);
  if (failed != MPI_GROUP_EMPTY) real.Group_free(&failed);
  return count > 0;
}

int check(const Guard& guard) {
  if (guard.working == MPI_COMM_NULL) return MPI_SUCCESS;
  if (is_stale(guard)) return MPIX_ERR_REVOKED;
  if (!listen()) return MPI_SUCCESS;
  int revoked = 0;
  real.MPIX_Comm_is_revoked(guard.working, &revoked);
  const bool failed = has_failed_members(guard.working);
  if (revoked == 0 && !failed) return MPI_SUCCESS;
  const int error = failed ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED;
  // The handler repairs, as in calls on the communicator itself.
  real.Comm_call_errhandler(guard.working, error);
  return error;
}

/// Returns the guard of what is made on a communicator.
Guard guard_on(MPI_Comm name) {
  Guard guard;
  guard.repairs = registry().repairs.load(std::memory_order_acquire);
  guard.working = now(name);
  return guard;
}

/// Ends the job if a death is behind the error of a window, and otherwise as MPI does at first. libfenix does not hear of these errors.
void end_with_window(MPI_Win* win, int* error, ...) {
  if (tells_of_failure(*error)) end_job_with_unlogged_calls();
  MPI_Win_set_errhandler(*win, MPI_ERRORS_ARE_FATAL);
  MPI_Win_call_errhandler(*win, *error);
}

MPI_Errhandler handler_of_windows() {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    MPI_Win_create_errhandler(end_with_window, &made);
    return made;
  }();
  return handler;
}

/// Makes a window by make, which is called with what comm stands for. call: name of the function.
template <class Make>
int make_window(MPI_Comm comm, const char* call, MPI_Win* win, const Make& make) {
  if (is_persistent(comm)) {
    return refuse_call(comm, MPI_ERR_UNSUPPORTED_OPERATION, "comm is a persistent communicator, which has no windows");
  }
  if (const MPI_Comm alone = alone_on(comm); alone != MPI_COMM_NULL) return make(alone);
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, call);
  note_unlogged(call);
  const Guard guard = guard_on(comm);
  const int error = make(guard.working);
  if (error == MPI_SUCCESS && is_guarded(comm)) add(windows(), *win, guard);
  if (error == MPI_SUCCESS && has_unlogged_calls()) MPI_Win_set_errhandler(*win, handler_of_windows());
  return error;
}

int refuse_partitioned(MPI_Comm comm, const char* call) {
  return refuse_aloud(comm, MPI_ERR_UNSUPPORTED_OPERATION, call,
                      "comm is a persistent or a resilient communicator, which has no partitioned communication");
}

}  // namespace

int check_window(MPI_Win win) { return check(find(windows(), win)); }

int check_file(MPI_File file) {
  const Guard guard = find(files(), file);
  const int error = check(guard);
  if (error != MPI_SUCCESS || guard.meeting == MPI_COMM_NULL) return error;
  // Open MPI's collective functions of files end the process if a member is dead.
  return real.Barrier(guard.meeting);
}

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make_window(comm, "MPI_Win_create", win,
                     [=](MPI_Comm now) { return real.Win_create(base, size, disp_unit, info, now, win); });
}

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make_window(comm, "MPI_Win_allocate", win,
                     [=](MPI_Comm now) { return real.Win_allocate(size, disp_unit, info, now, baseptr, win); });
}

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make_window(comm, "MPI_Win_allocate_shared", win,
                     [=](MPI_Comm now) { return real.Win_allocate_shared(size, disp_unit, info, now, baseptr, win); });
}

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make_window(comm, "MPI_Win_create_dynamic", win,
                     [=](MPI_Comm now) { return real.Win_create_dynamic(info, now, win); });
}

int PMPI_Win_free(MPI_Win* win) {
  const MPI_Win freed = win != nullptr ? *win : MPI_WIN_NULL;
  const int error = check_window(freed);
  remove(windows(), freed);
  if (error == MPI_SUCCESS) return real.Win_free(win);
  // In Open MPI the process may crash if a member is dead: the window is abandoned.
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

int PMPI_Win_wait(MPI_Win win) {
  if (find(windows(), win).working == MPI_COMM_NULL) return real.Win_wait(win);
  int done = 0;
  int error = MPI_SUCCESS;
  while (error == MPI_SUCCESS && done == 0) {
    error = check_window(win);
    if (error == MPI_SUCCESS) error = real.Win_test(win, &done);
  }
  return error;
}

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  if (const MPI_Comm alone = alone_on(comm); alone != MPI_COMM_NULL) {
    return real.File_open(alone, filename, amode, info, fh);
  }
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, "MPI_File_open");
  note_unlogged("MPI_File_open");
  Guard guard = guard_on(comm);
  if (!is_guarded(comm)) return real.File_open(guard.working, filename, amode, info, fh);
  int rank = 0;
  real.Comm_rank(guard.working, &rank);
  int error = real.Comm_split(guard.working, 0, rank, &guard.meeting);
  if (error == MPI_SUCCESS) error = real.File_open(guard.working, filename, amode, info, fh);
  if (error == MPI_SUCCESS) add(files(), *fh, guard);
  return error;
}

int PMPI_File_close(MPI_File* fh) {
  const Guard guard = fh != nullptr ? find(files(), *fh) : Guard();
  if (fh != nullptr) remove(files(), *fh);
  if (guard.meeting == MPI_COMM_NULL || is_stale(guard)) return real.File_close(fh);
  MPI_Comm meeting = guard.meeting;
  real.Comm_free(&meeting);
  return real.File_close(fh);
}

// Open MPI 5.0.7 makes duplicates of MPI_COMM_WORLD for them, and waits for all its processes: spares, and the dead.
int PMPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (is_guarded(comm) || is_persistent(comm)) return refuse_partitioned(comm, "MPI_Psend_init");
  return real.Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}

int PMPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (is_guarded(comm) || is_persistent(comm)) return refuse_partitioned(comm, "MPI_Precv_init");
  return real.Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
}

decltype(PMPI_Win_create) MPI_Win_create __attribute__((weak, alias("PMPI_Win_create")));
decltype(PMPI_Win_allocate) MPI_Win_allocate __attribute__((weak, alias("PMPI_Win_allocate")));
decltype(PMPI_Win_allocate_shared) MPI_Win_allocate_shared __attribute__((weak, alias("PMPI_Win_allocate_shared")));
decltype(PMPI_Win_create_dynamic) MPI_Win_create_dynamic __attribute__((weak, alias("PMPI_Win_create_dynamic")));
decltype(PMPI_Win_free) MPI_Win_free __attribute__((weak, alias("PMPI_Win_free")));
decltype(PMPI_Win_wait) MPI_Win_wait __attribute__((weak, alias("PMPI_Win_wait")));
decltype(PMPI_File_open) MPI_File_open __attribute__((weak, alias("PMPI_File_open")));
decltype(PMPI_File_close) MPI_File_close __attribute__((weak, alias("PMPI_File_close")));
decltype(PMPI_Psend_init) MPI_Psend_init __attribute__((weak, alias("PMPI_Psend_init")));
decltype(PMPI_Precv_init) MPI_Precv_init __attribute__((weak, alias("PMPI_Precv_init")));
}
