// SPDX-License-Identifier: BSD-3-Clause
#include "base/lived_clock.hpp"

#include <atomic>
#include <mutex>

namespace fenix_impl {
namespace {

using Ticks = LivedClock::rep;

constexpr Ticks kMostTicks = LivedClock::duration(LivedClock::kMost).count();
// Threads that look all the time need not write each time.
constexpr Ticks kTicksBetweenNotes = kMostTicks / 16;

std::atomic<Ticks> latest_look{0};
std::atomic<Ticks> not_lived{0};

#ifdef FENIX_FAULT_INJECTION
std::atomic<Ticks> in_front{0};

Ticks present() { return std::chrono::steady_clock::now().time_since_epoch().count() + in_front; }
#else
Ticks present() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
#endif

// A look that comes first after a long time.
void leave_out_gap(Ticks time) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Ticks before = latest_look.load(std::memory_order_acquire);
  if (time - before <= kMostTicks) return;
  not_lived.fetch_add(time - before - kMostTicks, std::memory_order_release);
  while (before < time && !latest_look.compare_exchange_weak(before, time, std::memory_order_release)) {
  }
}

}  // namespace

LivedClock::time_point LivedClock::now() noexcept {
  while (true) {
    const Ticks left_out = not_lived.load(std::memory_order_acquire);
    const Ticks time = present();
    Ticks before = latest_look.load(std::memory_order_acquire);
    if (time - before > kMostTicks) {
      leave_out_gap(time);
      continue;
    }
    if (time - before > kTicksBetweenNotes) {
      (void)latest_look.compare_exchange_strong(before, time, std::memory_order_release, std::memory_order_relaxed);
    }
    // This thread may have been stopped since its look, and another one may have left out the gap meanwhile.
    if (not_lived.load(std::memory_order_acquire) == left_out) return time_point(duration(time - left_out));
  }
}

#ifdef FENIX_FAULT_INJECTION
void LivedClock::stop_for(duration time) noexcept { in_front += time.count(); }
#endif

}  // namespace fenix_impl
