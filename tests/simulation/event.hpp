// SPDX-License-Identifier: BSD-3-Clause
// A counter by which threads wake each other: eventfd.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "kernel.hpp"

namespace fenix_simulation {

struct Event64 : Opened {
  ssize_t add(const void* from);
  ssize_t take(void* to);

  std::uint64_t count = 0;
  Process* reader = nullptr;  ///< who waits
};

}  // namespace fenix_simulation
