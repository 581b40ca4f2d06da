// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/unlogged.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/settings_files.hpp"
#include "interposition/job_end.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

constinit std::atomic<const char*> first_call{nullptr};

/// Whether FENIX_UNLOGGED lets such calls through. MPI_Init refuses other values.
bool are_allowed() {
  const char* value = setting("FENIX_UNLOGGED");
  return value != nullptr && std::string_view(value) == "allow";
}

constexpr const char* kWhyRefused =
    "what it makes is in no log, and a rank that takes a dead one's place could not get it. Run the program without "
    "FENIX_SPARES, or set FENIX_UNLOGGED=allow: a death ends the job then";

/// Prints why a call is refused, once in this process.
void tell(const char* call, const char* why) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (told->insert(call).second) std::fprintf(stderr, "fenix: %s is refused: %s\n", call, why);
}

/// A function of a driver for devices that tells something of an address. cuPointerGetAttribute and hipPointerGetAttribute have this form,
/// and the same numbers.
using GetAttribute = int (*)(void* data, int attribute, std::uintptr_t address);
constexpr int kMemoryType = 2;
constexpr int kHostPointer = 4;

/// Returns the function of a driver, if that is in the process. It may come at any time.
GetAttribute find_driver(const char* library, const char* function) {
  void* found = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return found != nullptr ? reinterpret_cast<GetAttribute>(dlsym(found, function)) : nullptr;
}

GetAttribute look_for_driver() {
  if (const GetAttribute cuda = find_driver("libcuda.so.1", "cuPointerGetAttribute")) return cuda;
  for (const char* library : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
    if (const GetAttribute hip = find_driver(library, "hipPointerGetAttribute")) return hip;
  }
  return nullptr;
}

/// Returns how many libraries were loaded in this process so far.
unsigned long long count_loaded_libraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

/// Returns the driver. To look for it takes time, and a driver takes longer to start than this waits between two looks.
GetAttribute driver() {
  constexpr std::int64_t kPause = 20'000'000;
  [[gnu::tls_model("initial-exec")]] static thread_local GetAttribute found = nullptr;
  [[gnu::tls_model("initial-exec")]] static thread_local std::int64_t latest = -kPause;
  if (found != nullptr) return found;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  if (now - latest < kPause) return nullptr;
  latest = now;
  // A library that is not there is looked for in many folders.
  [[gnu::tls_model("initial-exec")]] static thread_local unsigned long long loaded = 0;
  const unsigned long long loaded_now = count_loaded_libraries();
  if (loaded_now == loaded) return nullptr;
  loaded = loaded_now;
  return found = look_for_driver();
}

}  // namespace

bool refuses_unlogged(MPI_Comm comm) {
  return is_transparent.load(std::memory_order_acquire) && comm != MPI_COMM_NULL && !are_allowed();
}

int refuse_aloud(MPI_Comm comm, int mpi_error, const char* call, const char* why) {
  if (is_transparent.load(std::memory_order_acquire)) tell(call, why);
  return refuse_call(comm, mpi_error, why);
}

int refuse_unlogged(MPI_Comm comm, const char* call) {
  return refuse_aloud(comm, MPI_ERR_UNSUPPORTED_OPERATION, call, kWhyRefused);
}

MPI_Comm alone_on(MPI_Comm comm) {
  if (!is_transparent.load(std::memory_order_acquire) || comm == MPI_COMM_NULL) return MPI_COMM_NULL;
  int size = 0;
  int is_inter = 0;
  if (real.Comm_test_inter(now(comm), &is_inter) != MPI_SUCCESS || is_inter != 0) return MPI_COMM_NULL;
  return real.Comm_size(now(comm), &size) == MPI_SUCCESS && size == 1 ? MPI_COMM_SELF : MPI_COMM_NULL;
}

void note_unlogged(const char* call) {
  const char* none = nullptr;
  if (is_transparent.load(std::memory_order_acquire)) first_call.compare_exchange_strong(none, call);
}

bool has_unlogged_calls() { return first_call.load(std::memory_order_acquire) != nullptr; }

void end_job_with_unlogged_calls() {
  const char* call = first_call.load(std::memory_order_acquire);
  if (call == nullptr) return;
  int rank = 0;
  real.Comm_rank(now(MPI_COMM_WORLD), &rank);
  abort_job(
      JobEnd::begins_again, rank,
      std::string("a rank has died, and what ") + call + " has made cannot be made anew: the job has to begin again");
}

bool is_on_device(const void* buffer) {
  const GetAttribute get = driver();
  if (get == nullptr || buffer == nullptr) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  unsigned type = 0;
  void* on_host = nullptr;
  // The driver does not know memory of the host that it has not made. Memory that the host can reach may be copied.
  return get(&type, kMemoryType, address) == 0 &&
         (get(static_cast<void*>(&on_host), kHostPointer, address) != 0 || on_host == nullptr);
}

int refuse_device(MPI_Comm comm, const char* call) {
  return refuse_aloud(comm, MPI_ERR_BUFFER, call,
                      "its buffer is in the memory of a device, and messages are logged from the memory of the host. "
                      "Copy it there first");
}

}  // namespace fenix_impl

using namespace fenix_impl;

namespace {

/// Returns MPI's own function, which is not in the table of functions.
template <class Function>
Function* find_real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// A session may come before MPI_Init: a program that has nothing else would run without protection, on the spares too.
int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  static const auto real_init = find_real(&PMPI_Session_init, "PMPI_Session_init");
  if (setting("FENIX_SPARES") == nullptr || are_allowed()) {
    return real_init(info, errhandler, session);
  }
  tell("MPI_Session_init", kWhyRefused);
  MPI_Session of_handler = MPI_SESSION_NULL;
  const int error = real_init(info, errhandler, &of_handler);
  if (error != MPI_SUCCESS) return error;
  MPI_Session_call_errhandler(of_handler, MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Session_finalize(&of_handler);
  if (session != nullptr) *session = MPI_SESSION_NULL;
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

int PMPI_Open_port(MPI_Info info, char* port_name) {
  static const auto real_open = find_real(&PMPI_Open_port, "PMPI_Open_port");
  if (refuses_unlogged(MPI_COMM_SELF)) return refuse_unlogged(MPI_COMM_SELF, "MPI_Open_port");
  note_unlogged("MPI_Open_port");
  return real_open(info, port_name);
}

decltype(PMPI_Open_port) MPI_Open_port __attribute__((weak, alias("PMPI_Open_port")));
decltype(PMPI_Session_init) MPI_Session_init __attribute__((weak, alias("PMPI_Session_init")));
}
