// SPDX-License-Identifier: BSD-3-Clause
// The action of a signal in this process.
#pragma once

#include <csignal>

#include "check.hpp"

namespace check {

inline bool has_default_action(int signal) {
  struct sigaction now {};
  expect_equal(sigaction(signal, nullptr, &now), 0, "sigaction");
  return now.sa_handler == SIG_DFL;
}

}  // namespace check
