// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/launch.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "keeper/request_error.hpp"

extern char** environ;

namespace fenix_impl {
namespace {

/// The environment, without libraries that are to be loaded into programs with MPI.
std::vector<char*> environment_of_keeper() {
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each).rfind("LD_PRELOAD=", 0) != 0) all.push_back(*each);
  }
  all.push_back(nullptr);
  return all;
}

// The keeper has no other descriptors of this process, and none of its standard streams: the launcher waits for their end.
pid_t spawn_keeper(const std::string& program, const Listener& listener) {
  constexpr int kListener = 3;
  constexpr int kLock = 4;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, listener.socket.get(), kListener);
  posix_spawn_file_actions_adddup2(&actions, listener.lock.get(), kLock);
  for (int stream = 0; stream < kListener; ++stream) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kLock + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string path = program;
  char* const arguments[] = {path.data(), nullptr};
  const auto variables = environment_of_keeper();
  pid_t child = -1;
  const int result = ::posix_spawn(&child, path.c_str(), &actions, &attributes, arguments, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (result != 0) fail_request("cannot start " + program + ": " + std::strerror(result));
  return child;
}

}  // namespace

void launch_keeper(const std::string& program, const Listener& listener, Deadline::Clock::duration limit) {
  if (program.empty()) {
    fail_request(
        "there is no fenix-keeper: it is not beside the library, and not in a folder of PATH. FENIX_KEEPER gives its "
        "path");
  }
  const pid_t child = spawn_keeper(program, listener);
  // It leaves a grandchild, at once. A program that does not is no keeper.
  pid_t ended = 0;
  for (const Deadline deadline(limit); ended == 0 && !deadline.passed();) {
    ended = ::waitpid(child, nullptr, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended != 0) return;
  (void)::kill(child, SIGKILL);
  (void)::waitpid(child, nullptr, 0);
  fail_request(program + " is no keeper: it does not leave its parent");
}

}  // namespace fenix_impl
