// SPDX-License-Identifier: BSD-3-Clause
// Counts calls of malloc and its like and of mmap in this process, whoever makes them.
#pragma once

#include <cstdint>

namespace bench {

struct Allocations {
  std::uint64_t heap = 0;      // malloc, calloc, realloc, aligned_alloc, posix_memalign; new calls malloc
  std::uint64_t mappings = 0;  // mmap
};

void start_counting_allocations();
Allocations stop_counting_allocations();
/// False in builds with sanitizers, which have a malloc of their own.
bool allocations_can_be_counted();

}  // namespace bench
