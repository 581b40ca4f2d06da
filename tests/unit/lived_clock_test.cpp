// SPDX-License-Identifier: BSD-3-Clause
#include "base/lived_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/deadline.hpp"
#include "base/error.hpp"

namespace fenix_impl {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(LivedClock, CountsLittleOfATimeInWhichNobodyLooks) {
  const auto before = LivedClock::now();
  LivedClock::stop_for(hours(1));
  const auto time = LivedClock::now() - before;
  EXPECT_GE(time, milliseconds(0));
  EXPECT_LE(time, LivedClock::kMost);
}

TEST(LivedClock, CountsAllOfTheTimeInWhichSomebodyLooks) {
  const auto before = LivedClock::now();
  const auto start = std::chrono::steady_clock::now();
  // A gap on a loaded machine is longer than these.
  auto longest = LivedClock::duration::zero();
  auto latest = start;
  while (std::chrono::steady_clock::now() - start < 2 * LivedClock::kMost) {
    (void)LivedClock::now();
    const auto now = std::chrono::steady_clock::now();
    longest = std::max<LivedClock::duration>(longest, now - latest);
    latest = now;
  }
  if (longest >= LivedClock::kMost / 2) return;  // the machine is loaded
  EXPECT_GE(LivedClock::now() - before, 2 * LivedClock::kMost);
}

TEST(LivedClock, LetsAWaitGoOnAfterAnHour) {
  const Deadline deadline(2 * LivedClock::kMost);
  LivedClock::stop_for(hours(1));
  EXPECT_FALSE(deadline.passed());
  EXPECT_NO_THROW(deadline.check("an hour"));
  while (!deadline.passed()) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_THROW(deadline.check("its end"), Error);
}

TEST(LivedClock, NeverGoesBackAndNeverJumpsInAnyThread) {
  constexpr int kThreads = 4;
  constexpr int kStops = 200;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (auto before = LivedClock::now(); !done;) {
        const auto now = LivedClock::now();
        EXPECT_GE(now, before);
        EXPECT_LT(now - before, hours(1));
        before = now;
      }
    });
  }
  for (int i = 0; i < kStops; ++i) {
    LivedClock::stop_for(hours(1));
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fenix_impl
