// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept_addresses.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <new>

#include "base/available_memory.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

// Without access, addresses are promised no memory.
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;

struct Addresses {
  std::size_t size = 0;
  bool is_taken = false;
};

/// All addresses that there are, by their start.
struct Kept {
  std::mutex mutex;
  std::map<std::byte*, Addresses, std::less<>> all;
};

// Lives as long as the process: so do the addresses.
Kept& kept() {
  static auto* instance = new Kept;
  return *instance;
}

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Powers of two: memory that grows step by step leaves no more addresses behind than it ends with.
std::size_t rounded(std::size_t bytes) {
  if (bytes > std::size_t{1} << 62U) throw std::bad_alloc();
  return std::max(page(), std::bit_ceil(bytes));
}

// The system may promise more than it has.
void check_available(std::size_t bytes) {
  constexpr std::size_t kUnnoticed = std::size_t{16} << 20U;
  if (bytes > kUnnoticed && bytes > available_memory()) throw std::bad_alloc();
}

void* mapped(std::size_t size) {
  void* const memory = fault_fails("spill.map") ? MAP_FAILED : mmap(nullptr, size, PROT_NONE, kFlags, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::byte* KeptAddresses::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  check_available(bytes);
  const std::lock_guard lock(kept().mutex);
  auto& all = kept().all;
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const auto& each) { return !each.second.is_taken && each.second.size == size; });
  if (found == all.end()) {
    auto* const memory = static_cast<std::byte*>(mapped(size));
    try {
      found = all.emplace(memory, Addresses{size, false}).first;
    } catch (...) {
      munmap(memory, size);
      throw;
    }
  }
  if (mprotect(found->first, std::max(page(), (bytes + page() - 1) / page() * page()), PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  found->second.is_taken = true;
  return found->first;
}

void KeptAddresses::give_back(std::byte* memory) noexcept {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().all.find(memory);
  if (found == kept().all.end()) return;
  // A mapping in the place of the old one: the system gets its pages and its promise of them.
  if (mmap(memory, found->second.size, PROT_NONE, kFlags | MAP_FIXED, -1, 0) == MAP_FAILED) {
    (void)madvise(memory, found->second.size, MADV_DONTNEED);
  }
  found->second.is_taken = false;
}

bool KeptAddresses::have(const void* address) {
  const std::lock_guard lock(kept().mutex);
  const auto* const at = static_cast<const std::byte*>(address);
  auto after = kept().all.upper_bound(at);
  if (after == kept().all.begin()) return false;
  --after;
  return at < after->first + after->second.size;
}

}  // namespace fenix_impl
