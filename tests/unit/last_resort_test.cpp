// SPDX-License-Identifier: BSD-3-Clause
#include "base/last_resort.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace fenix_impl {
namespace {

constexpr std::chrono::seconds kTimeOfResort{2};

double timeouts_of_resort() {
  return std::chrono::duration<double>(kTimeOfResort) / std::chrono::duration<double>(Deadline::timeout());
}

TEST(LastResort, EndsAProcessThatStays) {
  EXPECT_EXIT(
      {
        const LastResort resort(timeouts_of_resort());
        std::this_thread::sleep_for(std::chrono::minutes(10));
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST(LastResort, LeavesAProcessAloneThatHasBeenStopped) {
  EXPECT_EXIT(
      {
        {
          const LastResort resort(timeouts_of_resort());
          LivedClock::stop_for(std::chrono::hours(1));
          std::this_thread::sleep_for(2 * LivedClock::kBetweenLooks);
        }
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "");
}

// As it was with a timer of the kernel.
TEST(LastResort, LeavesAProcessAloneThatGoesOnAfterTheTime) {
  const pid_t child = fork();
  if (child == 0) {
    const LastResort resort(timeouts_of_resort());
    raise(SIGSTOP);
    std::_Exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(kTimeOfResort + kTimeOfResort / 2);
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

}  // namespace
}  // namespace fenix_impl
