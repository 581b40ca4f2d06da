// SPDX-License-Identifier: BSD-3-Clause
#include "heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cost.hpp"
#include "pages.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr std::uintptr_t kBegin = 0x2000'0000'0000;
constexpr std::size_t kRange = std::size_t{64} << 20;
constexpr std::size_t kRanges = 16384;
constexpr std::size_t kSmall = 1024;
constexpr std::size_t kStep = 16;
constexpr int kPattern = 0xa5;         // what nobody has written
constexpr std::size_t kFilled = 8192;  // of it

std::byte* all_ranges() {
  static auto* const begin = [] {
    void* memory = mmap(reinterpret_cast<void*>(kBegin), kRange * kRanges, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(memory);
  }();
  return begin;
}

// Sizes up to kSmall in steps of 16 bytes, then powers of two.
std::size_t class_of(std::size_t bytes) {
  if (bytes <= kSmall) return (bytes + kStep - 1) / kStep;
  return kSmall / kStep + static_cast<std::size_t>(std::bit_width(bytes - 1)) - 10;
}

std::size_t bytes_of(std::size_t number) {
  return number <= kSmall / kStep ? number * kStep : std::size_t{1} << (number - kSmall / kStep + 10);
}

}  // namespace

/// Stands before each block.
struct Heap::Header {
  std::uint32_t number;  ///< of the class
  std::uint32_t offset;  ///< from the beginning of what was taken
  std::uint64_t mark;    ///< says that the block is in use
};

namespace {

constexpr std::uint64_t kInUse = 0x1e51e51e51e51e51;

}  // namespace

Heap::Heap(std::size_t slot) : begin_(all_ranges() + slot % kRanges * kRange) {}

bool Heap::has(const void* address) { return reinterpret_cast<std::uintptr_t>(address) - kBegin < kRange * kRanges; }

void* Heap::allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t room = alignment > kStep ? alignment : 0;
  const std::size_t number = class_of(bytes + room + (bytes + room == 0 ? 1 : 0));
  const std::size_t whole = bytes_of(number) + sizeof(Header);
  auto* begin = static_cast<std::byte*>(free_[number]);
  if (begin != nullptr) {
    std::memcpy(&free_[number], begin, sizeof(void*));
  } else {
    if (top_ + whole > kRange) return nullptr;
    begin = begin_ + top_;
    top_ += whole;
  }
  used_ += whole;
  auto* block = begin + sizeof(Header);
  if (room != 0) {
    const auto at = reinterpret_cast<std::uintptr_t>(block);
    block += (at + alignment - 1) / alignment * alignment - at;
  }
  std::memset(block, kPattern, std::min(bytes, kFilled));
  auto* header = reinterpret_cast<Header*>(block) - 1;
  *header = {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(block - begin), kInUse};
  return block;
}

void Heap::release(void* block) {
  auto* header = static_cast<Header*>(block) - 1;
  if (header->mark != kInUse) world().violate("memory is freed that is not in use");
  header->mark = 0;
  auto* begin = static_cast<std::byte*>(block) - header->offset;
  const std::uint32_t number = header->number;
  const std::byte* const end = begin + sizeof(Header) + bytes_of(number);
  for (const auto& each : lent_) {
    if (each.data() < end && begin < each.data() + each.size())
      world().violate("memory is freed that an access of MPI uses", "P3");
  }
  used_ -= bytes_of(number) + sizeof(Header);
  if (machine() != nullptr) forget_pages(block, bytes_of(number) - header->offset);
  std::memcpy(begin, &free_[number], sizeof(void*));
  free_[number] = begin;
}

void Heap::take_back(const std::byte* bytes) {
  const auto found = std::find_if(lent_.begin(), lent_.end(), [&](const auto& each) { return each.data() == bytes; });
  if (found != lent_.end()) lent_.erase(found);
}

}  // namespace fenix_simulation

namespace {

using fenix_simulation::Heap;

void* take(std::size_t bytes, std::size_t alignment) {
  if (fenix_simulation::Process* process = fenix_simulation::present_process(); process != nullptr) {
    return process->take_memory(bytes, alignment);
  }
  void* block = nullptr;
  return posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes == 0 ? 1 : bytes) == 0
             ? block
             : nullptr;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* block = take(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block) {
  if (block == nullptr) return;
  if (!Heap::has(block)) {
    std::free(block);
    return;
  }
  // All that the library of C++ frees for a process is that of the present one, too.
  if (fenix_simulation::Process* process = fenix_simulation::present_process(); process != nullptr) {
    process->heap.release(block);
  }
}

}  // namespace

// The program's new and delete have these names; those of the simulator are the usual ones.
extern "C" {
void* simulated_new(std::size_t bytes) { return take_or_throw(bytes, 16); }
void* simulated_new_nothrow(std::size_t bytes, const std::nothrow_t* /*unused*/) { return take(bytes, 16); }
void* simulated_new_aligned(std::size_t bytes, std::size_t alignment) { return take_or_throw(bytes, alignment); }
void* simulated_new_aligned_nothrow(std::size_t bytes, std::size_t alignment, const std::nothrow_t* /*unused*/) {
  return take(bytes, alignment);
}
void simulated_delete(void* block) { give_back(block); }
// One name each: objcopy does not give one name to several symbols.
void* simulated_new_array(std::size_t bytes) { return take_or_throw(bytes, 16); }
void simulated_delete_array(void* block) { give_back(block); }
void simulated_delete_sized(void* block, std::size_t /*bytes*/) { give_back(block); }
void simulated_delete_aligned(void* block, std::size_t /*alignment*/) { give_back(block); }
void simulated_delete_sized_aligned(void* block, std::size_t /*bytes*/, std::size_t /*alignment*/) { give_back(block); }
void* simulated_malloc(std::size_t bytes) { return take(bytes, 16); }
void* simulated_calloc(std::size_t number, std::size_t bytes) {
  void* block = take(number * bytes, 16);
  if (block != nullptr) std::memset(block, 0, number * bytes);
  return block;
}
void simulated_free(void* block) { give_back(block); }
}

// Blocks of the program may be freed inside of the library of C++, which knows only these.
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { give_back(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { give_back(block); }
