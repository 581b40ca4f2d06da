// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

// Saves the registers that a call keeps, changes the stack, and restores them.
extern "C" void fenix_simulation_switch(void** save, void* to);

#if defined(__x86_64__)
asm(R"(
.text
.type fenix_simulation_switch,@function
.globl fenix_simulation_switch
fenix_simulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#elif defined(__aarch64__)
asm(R"(
.text
.type fenix_simulation_switch,@function
.globl fenix_simulation_switch
fenix_simulation_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
#else
#error "the simulation has no switch of stacks for this processor"
#endif

namespace fenix_simulation {
namespace {

constexpr std::size_t kGuard = 4096;

void* scheduler_stack = nullptr;
Fiber* entered = nullptr;

// An exception that leaves the work ends the process: what the C++ library does then is the world's business.
void begin() noexcept {
  entered->work();
  entered->done = true;
  leave(*entered);
  std::abort();
}

Fiber::Exceptions& exceptions_here() { return *reinterpret_cast<Fiber::Exceptions*>(__cxxabiv1::__cxa_get_globals()); }

}  // namespace

Stack::Stack() {
  void* memory =
      mmap(nullptr, kBytes + kGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) std::abort();
  memory_ = static_cast<std::byte*>(memory) + kGuard;
}

Stack::~Stack() { munmap(memory_ - kGuard, kBytes + kGuard); }

void prepare(Fiber& fiber, Stack& stack) {
  fiber.stack = &stack;
  auto* place = reinterpret_cast<std::uintptr_t*>(stack.top());
#if defined(__x86_64__)
  constexpr std::size_t kSaved = 6;
  *--place = 0;  // so that the stack is aligned as after a call
  *--place = reinterpret_cast<std::uintptr_t>(&begin);
#else
  constexpr std::size_t kSaved = 20;
#endif
  place -= kSaved;
  std::memset(place, 0, kSaved * sizeof *place);
#if defined(__aarch64__)
  place[11] = reinterpret_cast<std::uintptr_t>(&begin);  // x30
#endif
  fiber.stack_pointer = place;
}

void enter(Fiber& fiber) {
  const Fiber::Exceptions outside = exceptions_here();
  exceptions_here() = fiber.exceptions;
  entered = &fiber;
  fenix_simulation_switch(&scheduler_stack, fiber.stack_pointer);
  entered = nullptr;
  fiber.exceptions = exceptions_here();
  exceptions_here() = outside;
}

void leave(Fiber& fiber) {
  const int error = errno;
  fenix_simulation_switch(&fiber.stack_pointer, scheduler_stack);
  errno = error;
}

}  // namespace fenix_simulation
