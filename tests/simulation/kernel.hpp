// SPDX-License-Identifier: BSD-3-Clause
// All that the system keeps for a process.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "memory.hpp"
#include "process.hpp"

namespace fenix_simulation {

/// A file of a disk, a socket, or a counter. Descriptors that were copied, or sent to another process, share it.
struct Opened {
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  virtual ~Opened() = default;
  /// The last descriptor is closed. A thread that has died may still have this object.
  virtual void close() {}
};

/// Closes what all copies of a descriptor stand for.
class Closer {
 public:
  explicit Closer(Opened& opened) : opened_(&opened) {}
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;
  ~Closer() { opened_->close(); }

 private:
  Opened* opened_;
};

/// Open file of a process.
struct OpenFile {
  std::shared_ptr<MemoryFile> memory;
  std::string text;  ///< of a file that can only be read
  std::size_t position = 0;
  std::shared_ptr<Opened> opened;
  std::shared_ptr<Closer> closer;  ///< goes before what it closes
};

struct KernelState {
  std::map<int, OpenFile> files;  ///< by descriptor
  std::multimap<void*, std::shared_ptr<MemoryFile>> mapped;
};

/// A name in /proc of a simulated process.
struct ProcName {
  Process* process = nullptr;
  int descriptor = -1;
  bool is_stat = false;
  bool is_one = false;  ///< it has the form of such a name
};
ProcName look_up(const char* name);
const std::shared_ptr<MemoryFile>* memory_of(const ProcName& name);
std::string status_of(const Process& process);
void clear_memory(std::byte* memory, std::size_t bytes);

/// Closes and unmaps all that a process has.
void release_kernel_state(Process& process);

/// Returns the descriptor of a file for the present process, which is at least this one.
int open_file(OpenFile file, int least = 0);
inline int open_file(std::shared_ptr<Opened> opened) {
  auto closer = std::make_shared<Closer>(*opened);
  return open_file(OpenFile{nullptr, {}, 0, std::move(opened), std::move(closer)});
}
/// Returns null for a descriptor that the present process does not have.
OpenFile* file_of(int descriptor);

/// Returns −1, and leaves the error for the caller.
inline int refuse(int error) {
  errno = error;
  return -1;
}

/// Returns what a descriptor of the present process stands for, or null.
template <class T>
std::shared_ptr<T> opened_as(int descriptor) {
  const OpenFile* const file = file_of(descriptor);
  return file != nullptr ? std::dynamic_pointer_cast<T>(file->opened) : nullptr;
}

/// Lets the thread that runs sleep until something reaches its process, or a time comes.
void wait_for_news(std::uint64_t until);

}  // namespace fenix_simulation
