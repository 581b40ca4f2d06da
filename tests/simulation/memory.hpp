// SPDX-License-Identifier: BSD-3-Clause
// Memory that processes share: files without a name, and what happens at each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fenix_simulation {

struct Process;

/// A file in memory. All processes that map it see it at the same address.
struct MemoryFile {
  explicit MemoryFile(Process& creator) : owner(&creator) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  Process* owner;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::vector<Process*> mappers;  ///< once for each mapping
};

inline constexpr std::uintptr_t kSharedBegin = 0x3000'0000'0000;
inline constexpr std::size_t kSharedBytes = std::size_t{1} << 40;

inline bool is_shared(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - kSharedBegin < kSharedBytes;
}

/// Gives a file its size, and memory of zeros.
void size_file(const std::shared_ptr<MemoryFile>& file, std::size_t bytes);
/// Returns the file at an address, or null.
MemoryFile* file_at(const void* address);
/// Forgets all files: a schedule is over.
void forget_files();
/// All that the present process is about to read or write.
void access(const void* address, bool writes);
/// Returns the bit of Fiber::looked_at for an address; several lines share it.
inline std::uint64_t bit_of(const void* address) {
  return std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(address) / 64 * 0x9e3779b97f4a7c15U >> 58U);
}
/// Lets the threads look that have read this, and wait.
void stir_readers(const void* address);
/// Copies as the processor does: in pieces, between which others run, or the process ends.
void copy_shared(void* to, const void* from, std::size_t bytes);

}  // namespace fenix_simulation
