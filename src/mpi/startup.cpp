// SPDX-License-Identifier: BSD-3-Clause
// Programs that know nothing of Fenix: with FENIX_SPARES in the environment, MPI_Init begins its use, and MPI_Finalize ends it.
#include <dlfcn.h>
#include <fenix/codes.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/settings_files.hpp"
#include "interposition/job_end.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/comms/attributes.hpp"

using namespace fenix_impl;

namespace {

const char* wanted_spares() { return setting("FENIX_SPARES"); }

int own_rank() {
  int rank = 0;
  real.Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void refuse_to_begin(const std::string& why) {
  const int rank = own_rank();
  abort_job(JobEnd::never_begins, rank, "the program cannot be protected, and is ended: " + why, /*waits=*/rank != 0);
}

/// Returns the path of a library beside this one, or its name if it is not there.
std::string beside_this_library(const char* name) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&wanted_spares), &here) == 0 || here.dli_fname == nullptr) return name;
  std::error_code unknown;
  const auto path = std::filesystem::canonical(here.dli_fname, unknown).replace_filename(name);
  return !unknown && std::filesystem::exists(path, unknown) ? path.string() : name;
}

/// Returns a function of libfenix, which is loaded if it is not there.
void* find_in_libfenix(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen(beside_this_library("libfenix.so.1").c_str(), RTLD_NOW | RTLD_GLOBAL);
  return library != nullptr ? dlsym(library, name) : nullptr;
}

template <class Function>
Function* function_of_libfenix(const char* name) {
  if (void* found = find_in_libfenix(name)) return reinterpret_cast<Function*>(found);
  const char* why = dlerror();
  refuse_to_begin(std::string("libfenix is not found: ") + (why != nullptr ? why : name));
}

int number_of_spares() {
  const char* const text = wanted_spares();
  const char* const end = text + std::strlen(text);
  int ranks = 0;
  real.Comm_size(MPI_COMM_WORLD, &ranks);
  int spares = -1;
  const auto [rest, error] = std::from_chars(text, end, spares);
  if (error == std::errc() && rest == end && spares >= 0 && spares < ranks) return spares;
  refuse_to_begin(std::string("FENIX_SPARES is \"") + text + "\", and has to be a number from 0 to " +
                  std::to_string(ranks - 1) + ", less than the " + std::to_string(ranks) +
                  " ranks that mpirun has started");
}

void begin() {
  // The line that cannot be read may be the one with the spares.
  if (const auto& mistakes = settings_files().mistakes(); !mistakes.empty()) refuse_to_begin(mistakes.front());
  if (wanted_spares() == nullptr) return;
  auto* const begin = function_of_libfenix<int(int)>("fenix_detail_begin");
  auto* const message = function_of_libfenix<const char*()>("Fenix_Error_message");
  const int spares = number_of_spares();
  // A spare may take the place of a dead rank while it is in here.
  is_transparent.store(true, std::memory_order_release);
  if (begin(spares) < 0) refuse_to_begin(std::string("MPI_Init: ") + message());
  logs_messages.store(true, std::memory_order_release);
}

// Where messages are logged, one thread at a time calls MPI.
constexpr int kMostThreads = MPI_THREAD_SERIALIZED;

void lower_thread_level_of_environment() {
  constexpr const char* kName = "OMPI_MPI_THREAD_LEVEL";
  const char* const level = std::getenv(kName);
  const bool is_lowered = wanted_spares() != nullptr && level != nullptr && std::atoi(level) > kMostThreads;
  if (is_lowered) setenv(kName, std::to_string(kMostThreads).c_str(), 1);
}

void end() {
  delete_attributes_of_self();
  (void)function_of_libfenix<int()>("fenix_detail_check_end")();
  wait_for_sent_messages();
  const int code = function_of_libfenix<int()>("fenix_detail_end")();
  // The program may have ended the use of Fenix by itself. Otherwise the spares would wait for ever.
  if (code == FENIX_SUCCESS || code == FENIX_ERROR_UNINITIALIZED) return;
  const std::string why = function_of_libfenix<const char*()>("Fenix_Error_message")();
  abort_job(JobEnd::begins_again, own_rank(), "MPI_Finalize: " + why);
}

}  // namespace

extern "C" {

int PMPI_Init(int* argc, char*** argv) {
  lower_thread_level_of_environment();
  const int error = real.Init(argc, argv);
  if (error == MPI_SUCCESS) begin();
  return error;
}

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  lower_thread_level_of_environment();
  const int wanted = wanted_spares() != nullptr ? std::min(required, kMostThreads) : required;
  const int error = real.Init_thread(argc, argv, wanted, provided);
  if (error == MPI_SUCCESS) begin();
  return error;
}

int PMPI_Finalize(void) {
  if (is_transparent.load(std::memory_order_acquire)) {
    end();
    logs_messages.store(false, std::memory_order_release);
    is_transparent.store(false, std::memory_order_release);
  }
  return real.Finalize();
}

decltype(PMPI_Init) MPI_Init __attribute__((weak, alias("PMPI_Init")));
decltype(PMPI_Init_thread) MPI_Init_thread __attribute__((weak, alias("PMPI_Init_thread")));
decltype(PMPI_Finalize) MPI_Finalize __attribute__((weak, alias("PMPI_Finalize")));
}
