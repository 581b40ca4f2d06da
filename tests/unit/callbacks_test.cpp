// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/callbacks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/settings.hpp"

namespace fenix_impl {
namespace {

constexpr auto kAfterRepair = FENIX_CALLBACK_POST_RECOVERY;
constexpr bool (*kNeverDropped)() = [] { return false; };

void call_registered(Callbacks& callbacks) { callbacks.call_all(kAfterRepair, MPI_COMM_NULL, 0, kNeverDropped); }

TEST(CallbacksOfThreads, AreRegisteredByAllWhileSomeCallThem) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 2000;
  Callbacks callbacks;
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        callbacks.push(kAfterRepair,
                       [&calls, counted = std::make_shared<int>(1)](MPI_Comm, int) { calls += *counted; });
        if (time % 16 == 0) call_registered(callbacks);
        EXPECT_TRUE(callbacks.pop(kAfterRepair));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(calls, 1);
  EXPECT_FALSE(callbacks.pop(kAfterRepair));
}

TEST(CallbacksOfThreads, StayWhileTheyRunInAnotherThread) {
  Callbacks callbacks;
  std::atomic<bool> runs{false};
  std::atomic<bool> popped{false};
  const auto content = std::make_shared<int>(1);
  callbacks.push(kAfterRepair, [&runs, &popped, content](MPI_Comm, int) {
    runs = true;
    while (!popped) std::this_thread::yield();
    EXPECT_GE(content.use_count(), 2);
  });
  std::thread other([&] { call_registered(callbacks); });
  while (!runs) std::this_thread::yield();
  EXPECT_TRUE(callbacks.pop(kAfterRepair));
  callbacks.leave_rounds();  // of this thread, which has none
  call_registered(callbacks);
  popped = true;
  other.join();
  EXPECT_EQ(content.use_count(), 1);
}

TEST(CallbacksOfThreads, AreNotDestroyedWhileTheyClearAll) {
  Callbacks callbacks;
  int calls = 0;
  const auto content = std::make_shared<int>(1);
  callbacks.push(kAfterRepair, [&callbacks, &calls, content](MPI_Comm, int) {
    callbacks.clear();
    ++calls;
    EXPECT_EQ(content.use_count(), 2);
  });
  callbacks.push(kAfterRepair, [&calls](MPI_Comm, int) { ++calls; });
  call_registered(callbacks);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(content.use_count(), 1);
}

TEST(CallbacksOfThreads, SettingsMayBeChangedByAll) {
  Settings settings;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2; ++i) {
    threads.emplace_back([&settings, i] {
      for (int time = 0; time < 1000; ++time) {
        settings.set(FENIX_RESUME_MODE, i == 0 ? FENIX_RESUME_RETURN : FENIX_RESUME_THROW);
        const Settings copy = settings;
        EXPECT_NE(copy.get(FENIX_RESUME_MODE), FENIX_RESUME_JUMP);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fenix_impl
