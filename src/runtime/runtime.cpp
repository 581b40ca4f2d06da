// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/of_thread.hpp"
#include "rma/freeing.hpp"

namespace fenix_impl {
namespace {

void handle_mpi_error(MPI_Comm* comm, int* error, ...) { runtime().failures().on_mpi_error(*error, *comm); }

void handle_stale_error(MPI_Comm*, int* error, ...) { runtime().failures().on_stale_error(*error); }

void pass_fault_point(const char* name) { fault_point(name); }

void note_refusal(const char* why) {
  try {
    last_error().text = why;
  } catch (const std::bad_alloc&) {
    last_error().text.clear();
  }
}

// libfenix_mpi keeps a pointer to it.
const InterposerServices* services() {
  static InterposerServices all;
  all = {.fault_point = pass_fault_point,
         .survivors_start_over = [] { return runtime().policy().survivors_start_over(); },
         .announce_error = FailureDetector::announce_error,
         .note_refusal = note_refusal,
         .free_unseen = free_unseen,
         .persist = runtime().persist_services};
  return &all;
}

constexpr std::chrono::duration<double> kTimeToFlush{10};

// Ends a process that calls exit() while Fenix is in use: MPI reports only processes that a signal has ended. It runs after
// the functions that the program has registered with atexit. Children of fork() are left alone.
__attribute__((destructor)) void die_instead_of_leaving() {
  int ended = 0;
  if (!runtime().use().is_of(getpid())) return;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  // Another thread may hold a stream in which it waits for input.
  const LastResort resort(std::min<double>(1, kTimeToFlush / std::chrono::duration<double>(Deadline::timeout())));
  std::fflush(stdout);
  std::fflush(stderr);
  std::fflush(nullptr);
  std::raise(SIGKILL);
}

// A child of fork() has the memory that ranks share, and the sockets of MPI: it must not use them.
void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { runtime().give_up_in_child(); });
  if (registered != 0) throw std::bad_alloc();
}

}  // namespace

Runtime& runtime() {
  static auto* instance = new Runtime;
  return *instance;
}

LastError& last_error() {
  auto& error = of_thread<LastError>();
  return error;
}

Runtime::Runtime()
    : lifecycle_(settings, use_, process_, subsystems_, recovery_,
                 {handle_mpi_error, handle_stale_error, services, watch_forks}) {}

void Runtime::give_up_in_child() noexcept {
  if (!use_.end_in_child()) return;
  // Locks that other threads of the parent held are never released here.
  gate().expect_threads(false);
}

void Runtime::set_option(int setting, unsigned option) {
  if (use_.ready() && !continuation().can_jump() && setting == FENIX_RESUME_MODE && option == FENIX_RESUME_JUMP) {
    throw Error(FENIX_ERROR_INVALID_SETTING_OPTION,
                "option FENIX_RESUME_JUMP needs the macro Fenix_Init: there is no place to jump to");
  }
  settings.set(setting, option);
}

void Runtime::withdraw_from_call() const noexcept {
  if (!Inside::working_group_id()) return;
  if (Group* group = subsystems_.groups.find(*Inside::working_group_id())) group->attachment().withdraw();
}

Group& Runtime::working_group(int group_id) {
  Inside::note_working_group(group_id);
  if (group_id == FENIX_DATA_GROUP_WORLD_ID) {
    const Group* world = groups().find(group_id);
    if (world == nullptr || !world->attached()) groups().form_world();
  }
  return attached_group(group_id);
}

void Runtime::make_consistent(int group_id) {
  Group* deleted = groups().find(group_id);
  Group& found = deleted != nullptr && deleted->is_deleted() ? *deleted : working_group(group_id);
  if (found.make_consistent()) return;
  groups().erase(group_id);
}

}  // namespace fenix_impl
