// SPDX-License-Identifier: BSD-3-Clause
// All that the system keeps for a process.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "memory.hpp"

namespace fenix_simulation {

/// Open file of a process.
struct OpenFile {
  std::shared_ptr<MemoryFile> memory;
  std::string text;  ///< of a file that can only be read
  std::size_t position = 0;
};

struct KernelState {
  std::map<int, OpenFile> files;  ///< by descriptor
  std::map<void*, std::shared_ptr<MemoryFile>> mapped;
};

/// Closes and unmaps all that a process has.
void release_kernel_state(Process& process);

/// Returns the descriptor of a file for the present process.
int open_file(OpenFile file);
}  // namespace fenix_simulation
