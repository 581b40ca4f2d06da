// SPDX-License-Identifier: BSD-3-Clause
// Functions that the compiler calls at each access to memory when it compiles for the thread sanitizer. Here they are of the
// simulation: the sanitizer's own library is not linked.
#include <cstdint>
#include <cstring>

#include "cost.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "pages.hpp"
#include "world.hpp"

namespace {

using fenix_simulation::access;
using fenix_simulation::is_shared;

inline void hook(const volatile void* address, bool writes) {
  if (is_shared(const_cast<const void*>(address))) [[unlikely]] {
    access(const_cast<const void*>(address), writes);
  }
}

void charge_copy(std::size_t bytes) {
  const auto* machine = fenix_simulation::machine();
  if (machine != nullptr) fenix_simulation::world().charge(machine->copy_byte * static_cast<double>(bytes));
}

}  // namespace

#define FENIX_PLAIN(bytes)                                                   \
  void __tsan_read##bytes(void* address) { hook(address, false); }           \
  void __tsan_write##bytes(void* address) { hook(address, true); }           \
  void __tsan_unaligned_read##bytes(void* address) { hook(address, false); } \
  void __tsan_unaligned_write##bytes(void* address) { hook(address, true); }

#define FENIX_CHANGE(bits, type, name, expression)                                  \
  type __tsan_atomic##bits##_##name(volatile type* at, type value, int /*order*/) { \
    hook(at, true);                                                                 \
    const type before = *at;                                                        \
    *at = static_cast<type>(expression);                                            \
    return before;                                                                  \
  }

#define FENIX_EXCHANGE(bits, type, name)                                                                              \
  int __tsan_atomic##bits##_##name(volatile type* at, type* expected, type value, int /*success*/, int /*failure*/) { \
    hook(at, true);                                                                                                   \
    const type before = *at;                                                                                          \
    if (before != *expected) {                                                                                        \
      *expected = before;                                                                                             \
      return 0;                                                                                                       \
    }                                                                                                                 \
    *at = value;                                                                                                      \
    return 1;                                                                                                         \
  }

#define FENIX_ATOMIC(bits, type)                                                   \
  type __tsan_atomic##bits##_load(const volatile type* at, int /*order*/) {        \
    hook(at, false);                                                               \
    return *at;                                                                    \
  }                                                                                \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int /*order*/) { \
    hook(at, true);                                                                \
    *at = value;                                                                   \
  }                                                                                \
  FENIX_CHANGE(bits, type, exchange, value)                                        \
  FENIX_CHANGE(bits, type, fetch_add, before + value)                              \
  FENIX_CHANGE(bits, type, fetch_sub, before - value)                              \
  FENIX_CHANGE(bits, type, fetch_and, before& value)                               \
  FENIX_CHANGE(bits, type, fetch_or, before | value)                               \
  FENIX_CHANGE(bits, type, fetch_xor, before ^ value)                              \
  FENIX_EXCHANGE(bits, type, compare_exchange_strong)                              \
  FENIX_EXCHANGE(bits, type, compare_exchange_weak)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** /*at*/, void* /*value*/) {}
void __tsan_vptr_read(void** /*at*/) {}
void __tsan_read_range(void* address, long /*bytes*/) { hook(address, false); }
void __tsan_write_range(void* address, long /*bytes*/) { hook(address, true); }
void __tsan_atomic_thread_fence(int /*order*/) {}
void __tsan_atomic_signal_fence(int /*order*/) {}

FENIX_PLAIN(1)
FENIX_PLAIN(2)
FENIX_PLAIN(4)
FENIX_PLAIN(8)
FENIX_PLAIN(16)
FENIX_ATOMIC(8, std::uint8_t)
FENIX_ATOMIC(16, std::uint16_t)
FENIX_ATOMIC(32, std::uint32_t)
FENIX_ATOMIC(64, std::uint64_t)

void* simulated_memcpy(void* to, const void* from, std::size_t bytes) {
  charge_copy(bytes);
  if (!is_shared(to) && !is_shared(from)) return std::memcpy(to, from, bytes);
  fenix_simulation::copy_shared(to, from, bytes);
  return to;
}

void* simulated_memmove(void* to, const void* from, std::size_t bytes) {
  charge_copy(bytes);
  if (!is_shared(to) && !is_shared(from)) return std::memmove(to, from, bytes);
  hook(from, false);
  hook(to, true);
  return std::memmove(to, from, bytes);
}

void* simulated_memset(void* to, int value, std::size_t bytes) {
  hook(to, true);
  // Many processes have memory that they only make ready.
  if (value == 0 && fenix_simulation::machine() != nullptr && fenix_simulation::Heap::has(to)) {
    fenix_simulation::fill_with_zeros(to, bytes);
    return to;
  }
  return std::memset(to, value, bytes);
}

int simulated_memcmp(const void* a, const void* b, std::size_t bytes) {
  hook(a, false);
  hook(b, false);
  return std::memcmp(a, b, bytes);
}
}
