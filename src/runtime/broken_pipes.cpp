// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/broken_pipes.hpp"

#include <csignal>

namespace fenix_impl {
namespace {

// Only the write fails. Programs that this process starts do not inherit a handler, as they would SIG_IGN.
void let_write_fail(int) {}

void change_action_of_broken_pipes(void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(SIGPIPE, nullptr, &action) != 0 || action.sa_handler != from) return;
  action.sa_handler = to;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace

void survive_broken_pipes() { change_action_of_broken_pipes(SIG_DFL, let_write_fail); }

void die_of_broken_pipes() { change_action_of_broken_pipes(let_write_fail, SIG_DFL); }

}  // namespace fenix_impl
