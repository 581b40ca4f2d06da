// SPDX-License-Identifier: BSD-3-Clause
// An open file or folder of a disk, and what a disk refuses.
#pragma once

#include <cstdint>
#include <utility>

#include "disk.hpp"
#include "kernel.hpp"

namespace fenix_simulation {

struct DiskFile : Opened {
  DiskFile(InodePtr its_inode, int its_flags) : inode(std::move(its_inode)), flags(its_flags) {}

  void close() override {
    if (inode->lock.lock().get() == this) inode->lock.reset();
  }

  InodePtr inode;
  int flags;
  std::size_t position = 0;
};

/// Kinds of requests, which fail in other ways.
enum class Fault : std::uint8_t { opens, makes, changes, lists, reads, writes, syncs };

/// Lets a request to a disk take its time. Returns an error of errno, or 0.
int draw_fault(bool is_shared, Fault request);

}  // namespace fenix_simulation
