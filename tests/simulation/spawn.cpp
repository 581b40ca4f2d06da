// SPDX-License-Identifier: BSD-3-Clause
#include "spawn.hpp"

#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "kernel.hpp"
#include "world.hpp"

/// Main function of tools/fenix_keeper.cpp, by another name.
int fenix_simulated_keeper(int argc, char** argv);

namespace fenix_simulation {
namespace {

Process& self() { return *present_process(); }

/// Descriptors that a new process gets, in the place of what the library of the system has there.
struct Actions {
  static constexpr std::size_t kMost = 4;
  int number;
  struct {
    int from;
    int to;
  } copies[kMost];
};
static_assert(sizeof(Actions) <= sizeof(posix_spawn_file_actions_t));

void run_keeper() {
  char name[] = "fenix-keeper";
  char* arguments[] = {name, nullptr};
  const int status = fenix_simulated_keeper(1, arguments);
  if (status != 0) world().violate("a keeper ends with " + std::to_string(status), "P3");
}

int next_keeper() {
  int number = kFirstKeeper;
  while (world().find(kFirstPid + number) != nullptr) ++number;
  return number;
}

}  // namespace
}  // namespace fenix_simulation

using namespace fenix_simulation;

extern "C" {

int simulated_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* /*attributes*/, char* const* /*arguments*/,
                          char* const* /*variables*/) {
  world().step();
  Process& parent = self();
  Process& made = world().start(parent.node, next_keeper(), kOfNoJob, run_keeper);
  made.environment = parent.environment;
  const auto& copies = *reinterpret_cast<const Actions*>(actions);
  for (int i = 0; i < copies.number; ++i) {
    const OpenFile* const file = file_of(copies.copies[i].from);
    if (file != nullptr) made.kernel->files[copies.copies[i].to] = *file;
  }
  *pid = made.pid;
  world().note(9, [&] { return std::string("starts ") + path + " as process " + std::to_string(made.number); });
  return 0;
}

int simulated_posix_spawn_file_actions_init(posix_spawn_file_actions_t* actions) {
  std::memset(actions, 0, sizeof *actions);
  return 0;
}
int simulated_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int from, int to) {
  auto& all = *reinterpret_cast<Actions*>(actions);
  all.copies[all.number].from = from;
  all.copies[all.number++].to = to;
  return 0;
}
int simulated_posix_spawn_file_actions_addopen(posix_spawn_file_actions_t* /*actions*/, int /*descriptor*/,
                                               const char* /*name*/, int /*flags*/, mode_t /*mode*/) {
  return 0;
}
int simulated_posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* /*actions*/, int /*from*/) {
  return 0;
}
int simulated_posix_spawn_file_actions_destroy(posix_spawn_file_actions_t* /*actions*/) { return 0; }
int simulated_posix_spawnattr_init(posix_spawnattr_t* /*attributes*/) { return 0; }
int simulated_posix_spawnattr_destroy(posix_spawnattr_t* /*attributes*/) { return 0; }
int simulated_posix_spawnattr_setflags(posix_spawnattr_t* /*attributes*/, short /*flags*/) { return 0; }
int simulated_posix_spawnattr_setsigdefault(posix_spawnattr_t* /*attributes*/, const sigset_t* /*set*/) { return 0; }
int simulated_posix_spawnattr_setsigmask(posix_spawnattr_t* /*attributes*/, const sigset_t* /*set*/) { return 0; }

// The process that was started leaves a copy of itself, and ends. Both are one here: whoever waits sees an end.
pid_t simulated_fork() {
  world().step();
  self().has_left = true;
  return 0;
}

pid_t simulated_waitpid(pid_t pid, int* status, int options) {
  world().step();
  const Process* const child = world().find(pid);
  if (child == nullptr) return refuse(ECHILD);
  while (child->alive && !child->has_left) {
    if ((options & WNOHANG) != 0) return 0;
    world().idle();
  }
  if (status != nullptr) *status = 0;
  return pid;
}

pid_t simulated_setsid() { return self().pid; }
int simulated_sched_setaffinity(pid_t /*pid*/, std::size_t /*bytes*/, const cpu_set_t* /*cores*/) { return 0; }
int simulated_setrlimit(int /*resource*/, const rlimit* /*limit*/) { return 0; }
__sighandler_t simulated_signal(int /*number*/, __sighandler_t /*handler*/) { return SIG_DFL; }

// A keeper ends so if a thread of it waits for a file system that does not answer.
void simulated__exit(int status) {
  Process& process = self();
  if (process.job != kOfNoJob)
    world().violate("process " + std::to_string(process.number) + " exits with " + std::to_string(status));
  world().end(process);
  world().scheduler().vanish();
}
}
