// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node: see src/keeper. Ranks start it, and give it a socket as descriptor 3, to which they connect, and the lock of its name as
// descriptor 4. With
// "--store DIR" it makes that socket itself, for ranks that come later, and stays a child of the process that has started it. It prints
// "ready" then, or "taken" if there is another keeper.
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "keeper/client/connection.hpp"
#include "keeper/keeper.hpp"
#include "keeper/local_socket.hpp"
#include "store/posix_file_system.hpp"
#include "store/store_path.hpp"

using namespace fenix_impl;

namespace {

constexpr int kListener = 3;
constexpr int kLock = 4;

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

int main(int argc, char** argv) {
  constexpr int kArgumentsOfStore = 3;
  constexpr std::chrono::minutes kForTheFirst{1};
  constexpr std::chrono::minutes kForLaterRanks{10};
  const bool comes_first = argc == kArgumentsOfStore && std::strcmp(argv[1], "--store") == 0;
  std::signal(SIGPIPE, SIG_IGN);
  if (!comes_first) leave_parent();
  give_way();
  take_descriptors();
  try {
    Listener listener;
    if (!comes_first) listener = {Descriptor(kListener), Descriptor(kLock)};
    if (comes_first) {
      listener = listen_at(KeeperConnection("", {path_of_store(argv[2]), 0, 1, 0, 0}).socket_name());
      std::puts(listener ? "ready" : "taken");
      std::fflush(stdout);
      if (!listener) return EXIT_SUCCESS;
    }
    Keeper keeper(std::make_unique<PosixFileSystem>(), std::move(listener),
                  comes_first ? kForLaterRanks : kForTheFirst);
    the_keeper = &keeper;
    std::signal(SIGTERM, hurry);
    // srun ends its tasks at SIGTERM, and passes this one on.
    std::signal(SIGUSR1, hurry);
    // Threads in a file system that does not answer cannot be waited for.
    if (!keeper.run()) _exit(1);
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGUSR1, SIG_IGN);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenix-keeper: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
