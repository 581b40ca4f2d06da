// SPDX-License-Identifier: BSD-3-Clause
#include "allocations.hpp"

#include <atomic>

#include "operations.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define FENIX_BENCH_COUNTS 0
#else
#define FENIX_BENCH_COUNTS 1
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> heap_calls{0};
std::atomic<std::uint64_t> mapping_calls{0};

#if FENIX_BENCH_COUNTS
void count(std::atomic<std::uint64_t>& calls) {
  if (counting.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
}
#endif

}  // namespace

#if FENIX_BENCH_COUNTS
#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>

// Functions of a program come before those of its libraries, for the libraries as well. glibc has its own under these
// names too; dlsym would have to allocate before it could find them.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept {
  count(heap_calls);
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) noexcept {
  count(heap_calls);
  return __libc_calloc(number, size);
}

void* realloc(void* block, std::size_t size) noexcept {
  count(heap_calls);
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count(heap_calls);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count(heap_calls);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  count(heap_calls);
  void* const result = __libc_memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *block = result;
  return 0;
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  using Function = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "mmap"));
  count(mapping_calls);
  return next(address, length, protection, flags, file, offset);
}

}  // extern "C"
#endif

namespace bench {

void start_counting_allocations() {
  heap_calls = 0;
  mapping_calls = 0;
  counting = true;
}

Allocations stop_counting_allocations() {
  counting = false;
  return {heap_calls, mapping_calls};
}

bool allocations_can_be_counted() { return FENIX_BENCH_COUNTS != 0; }

std::vector<Result> count_allocations(Subject& subject) {
  constexpr int kSteps = 100;
  const auto steps = [&](int number) {
    for (int i = 0; i < number; ++i) {
      subject.store();
      subject.commit_barrier();
    }
  };
  subject.compute();
  steps(subject.of().depth + 10);
  subject.team().barrier();
  start_counting_allocations();
  steps(kSteps);
  const Allocations counted = stop_counting_allocations();

  Result result{"allocations", subject.of(), kSteps, {}, {}, {}};
  const double heap = subject.team().greatest(static_cast<double>(counted.heap));
  const double mappings = subject.team().greatest(static_cast<double>(counted.mappings));
  if (allocations_can_be_counted()) {
    result.more = {{"allocations_per_operation", heap / kSteps}, {"mappings_per_operation", mappings / kSteps}};
  }
  return {result};
}

}  // namespace bench
