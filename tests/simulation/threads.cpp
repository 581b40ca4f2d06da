// SPDX-License-Identifier: BSD-3-Clause
// Threads, locks and condition variables of a simulated process.
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "kernel.hpp"
#include "world.hpp"

namespace {

using fenix_simulation::Fiber;
using fenix_simulation::Process;
using fenix_simulation::Time;
using fenix_simulation::world;

Fiber& here() { return *world().scheduler().present(); }

void look_again() { world().stir(*here().process); }

/// Word of a lock, in the place of what the system has there.
struct Lock {
  std::uint64_t owner;  ///< number of a fiber; of a lock for many, kMany and their number
};
constexpr std::uint64_t kMany = std::uint64_t{1} << 32;

Lock& lock_in(void* place) { return *static_cast<Lock*>(place); }

Time time_of(const timespec* time) {
  return static_cast<Time>(time->tv_sec) * 1'000'000'000 + static_cast<Time>(time->tv_nsec);
}

/// Sleeps until the word changes, which a notification does. Returns false if the time came first.
bool wait_on(const volatile std::uint32_t& word, Time end) {
  const std::uint32_t before = word;
  while (word == before) {
    if (world().now() >= end) return false;
    fenix_simulation::wait_for_news(end);
  }
  return true;
}

}  // namespace

extern "C" {

int simulated_pthread_mutex_lock(pthread_mutex_t* mutex) {
  Lock& lock = lock_in(mutex);
  while (lock.owner != 0) {
    if (lock.owner == here().number) world().violate("a thread waits for a lock that it has");
    world().idle();
  }
  lock.owner = here().number;
  return 0;
}

int simulated_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  Lock& lock = lock_in(mutex);
  if (lock.owner != 0) return EBUSY;
  lock.owner = here().number;
  return 0;
}

int simulated_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  lock_in(mutex).owner = 0;
  if (here().process->fibers.size() > 1) look_again();
  return 0;
}

int simulated_pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) {
  Lock& lock = lock_in(rwlock);
  while (lock.owner != 0 && lock.owner < kMany) world().idle();
  lock.owner = lock.owner == 0 ? kMany + 1 : lock.owner + 1;
  return 0;
}

int simulated_pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) {
  Lock& lock = lock_in(rwlock);
  while (lock.owner != 0) world().idle();
  lock.owner = here().number;
  return 0;
}

int simulated_pthread_rwlock_trywrlock(pthread_rwlock_t* rwlock) {
  if (lock_in(rwlock).owner != 0) return EBUSY;
  return simulated_pthread_rwlock_wrlock(rwlock);
}

int simulated_pthread_rwlock_tryrdlock(pthread_rwlock_t* rwlock) {
  const std::uint64_t owner = lock_in(rwlock).owner;
  if (owner != 0 && owner < kMany) return EBUSY;
  return simulated_pthread_rwlock_rdlock(rwlock);
}

int simulated_pthread_rwlock_unlock(pthread_rwlock_t* rwlock) {
  Lock& lock = lock_in(rwlock);
  lock.owner = lock.owner > kMany + 1 ? lock.owner - 1 : 0;
  if (here().process->fibers.size() > 1) look_again();
  return 0;
}

pthread_t simulated_pthread_self() { return static_cast<pthread_t>(here().number); }

// ------------------------------------------------------------------------------------------------ condition variables

int simulated_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t /*clock*/,
                                     const timespec* until) {
  const auto* word = reinterpret_cast<const volatile std::uint32_t*>(condition);
  simulated_pthread_mutex_unlock(mutex);
  const bool told = wait_on(*word, time_of(until));
  simulated_pthread_mutex_lock(mutex);
  return told ? 0 : ETIMEDOUT;
}

void simulated_condition_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock) {
  const auto* word = reinterpret_cast<const volatile std::uint32_t*>(condition);
  auto* mutex = lock->mutex()->native_handle();
  simulated_pthread_mutex_unlock(mutex);
  (void)wait_on(*word, fenix_simulation::kNever);
  simulated_pthread_mutex_lock(mutex);
}

void simulated_condition_notify(std::condition_variable* condition) {
  *reinterpret_cast<std::uint32_t*>(condition) += 1;
  look_again();
}

// The state of a future, on which a thread waits until another one has its result.

void simulated_futex_notify(void* /*base*/, unsigned* /*word*/) { look_again(); }

bool simulated_futex_wait_steady(void* /*base*/, const unsigned* word, unsigned before, bool has_end,
                                 std::chrono::seconds seconds, std::chrono::nanoseconds rest) {
  const Time end =
      has_end ? static_cast<Time>((std::chrono::nanoseconds(seconds) + rest).count()) : fenix_simulation::kNever;
  while (*static_cast<const volatile unsigned*>(word) == before) {
    if (world().now() >= end) return false;
    fenix_simulation::wait_for_news(end);
  }
  return true;
}

bool simulated_futex_wait(void* base, const unsigned* word, unsigned before, bool /*has_end*/,
                          std::chrono::seconds /*seconds*/, std::chrono::nanoseconds /*rest*/) {
  return simulated_futex_wait_steady(base, word, before, false, {}, {});
}

// A word says that what is done once has been done.
int simulated_pthread_once(pthread_once_t* once, void (*work)()) {
  if (std::exchange(*once, 1) == 0) work();
  return 0;
}

void simulated_condition_begin(std::condition_variable* condition) { *reinterpret_cast<std::uint64_t*>(condition) = 0; }
void simulated_condition_end(std::condition_variable* /*condition*/) {}

// ---------------------------------------------------------------------------------------------------------------- threads

void simulated_start_thread(std::thread* thread, std::unique_ptr<std::thread::_State>* state, void (* /*depend*/)()) {
  std::thread::_State* work = state->release();
  Process& process = *here().process;
  Fiber& made = world().scheduler().start(process, [work, &process] {
    work->_M_run();
    delete work;
    world().stir(process);
  });
  *reinterpret_cast<std::uint64_t*>(thread) = made.number;
}

void simulated_join(std::thread* thread) {
  const std::uint64_t number = *reinterpret_cast<std::uint64_t*>(thread);
  const auto runs = [&] {
    for (const Fiber* each : here().process->fibers) {
      if (each->number == number) return true;
    }
    return false;
  };
  while (runs()) world().idle();
  *reinterpret_cast<std::uint64_t*>(thread) = 0;
}

void simulated_detach(std::thread* thread) { *reinterpret_cast<std::uint64_t*>(thread) = 0; }
unsigned simulated_hardware_concurrency() { return 2; }

// Destructors of thread_local objects: a process of the simulation ends without them.
int simulated_cxa_thread_atexit(void (* /*end*/)(void*), void* /*object*/, void* /*library*/) { return 0; }
int simulated_cxa_atexit(void (* /*end*/)(void*), void* /*object*/, void* /*library*/) { return 0; }

// ------------------------------------------------------------------------------------- local objects that are static

// The first byte says that the object is there, the second one that a thread makes it.
int simulated_cxa_guard_acquire(std::uint8_t* guard) {
  while (guard[1] != 0) world().idle();
  if (guard[0] != 0) return 0;
  guard[1] = 1;
  return 1;
}

void simulated_cxa_guard_release(std::uint8_t* guard) {
  guard[1] = 0;
  guard[0] = 1;
}

void simulated_cxa_guard_abort(std::uint8_t* guard) { guard[1] = 0; }
}
