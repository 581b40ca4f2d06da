// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node, which ranks start: see src/keeper. It is told nothing but descriptor 3, a socket that ranks connect to.
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "keeper/keeper.hpp"
#include "store/posix_file_system.hpp"

using namespace fenix_impl;

namespace {

constexpr int kListener = 3;

Keeper* the_keeper = nullptr;

// The end of an allocation is near: what was told with SIGTERM is killed soon.
void hurry(int) { the_keeper->hurry(); }

// The rank that started this process waits for its child, and has nothing to do with the grandchild.
void leave_parent() {
  const pid_t child = fork();
  if (child != 0) _exit(child > 0 ? 0 : 1);
  setsid();
}

// The ranks come first, for cores and for the disk.
void give_way() {
  constexpr int kNice = 10;
  constexpr int kThisProcess = 1;
  constexpr int kIdleClass = 3 << 13;
  setpriority(PRIO_PROCESS, 0, kNice);
  syscall(SYS_ioprio_set, kThisProcess, 0, kIdleClass);
  // The launcher has bound the rank to a core, which it needs for itself.
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
  sched_setaffinity(0, sizeof all, &all);
}

// It has the regions of all ranks of the node open.
void take_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  leave_parent();
  give_way();
  take_descriptors();
  try {
    Keeper keeper(std::make_unique<PosixFileSystem>(), Descriptor(kListener));
    the_keeper = &keeper;
    std::signal(SIGTERM, hurry);
    // Threads in a file system that does not answer cannot be waited for.
    if (!keeper.run()) _exit(1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenix-keeper: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
