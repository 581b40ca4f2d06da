// SPDX-License-Identifier: BSD-3-Clause
#include "rma/silence_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace fenix_impl {
namespace {

using std::chrono::milliseconds;
using Kind = SilenceWatch::Wait::Kind;

constexpr milliseconds kPatience{200};

// A process that has told where its page is, and then does something.
class Child {
 public:
  explicit Child(const std::function<void(SilenceWatch&)>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      SilenceWatch watch;
      const auto address = watch.address();
      if (write(ends[1], &address, sizeof address) != sizeof address) _exit(1);
      work(watch);
      while (true) pause();
    }
    std::array<std::byte, sizeof address_> bytes{};
    EXPECT_EQ(read(ends[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    address_ = std::bit_cast<SilenceWatch::Address>(bytes);
    close(ends[0]);
    close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] const SilenceWatch::Address& address() const { return address_; }

  [[nodiscard]] bool lives() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  }

  // Whether it is dead when some time has passed, or earlier.
  [[nodiscard]] bool dies() const {
    siginfo_t info{};
    for (int i = 0; i < 60; ++i) {
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
        EXPECT_EQ(info.si_status, SIGKILL);
        return true;
      }
      std::this_thread::sleep_for(kPatience / 10);
    }
    return false;
  }

 private:
  pid_t pid_ = -1;
  SilenceWatch::Address address_;
};

const auto kStop = [](SilenceWatch&) { raise(SIGSTOP); };
const auto kNothing = [](SilenceWatch&) {};
// Dies when somebody rings.
const auto kSleep = [](SilenceWatch& watch) {
  if (watch.sleep(/*rings=*/0, std::chrono::minutes(1))) raise(SIGKILL);
};
const auto kCome = [](SilenceWatch& watch) { new SilenceWatch::Wait(watch, Kind::round); };

// The process that is watched, and this one.
struct Watched {
  explicit Watched(const Child& child) {
    const std::vector<SilenceWatch::Address> all{watch.address(), child.address()};
    watch.observe(all);
  }
  SilenceWatch watch{kPatience};
};

TEST(SilenceWatch, KillsAStoppedProcessThatKeepsThisOneWaiting) {
  const Child child(kStop);
  Watched watched(child);
  const SilenceWatch::Wait wait(watched.watch, Kind::any);
  EXPECT_TRUE(child.dies());
}

TEST(SilenceWatch, WaitsForItsPatienceToEnd) {
  const Child child(kStop);
  Watched watched(child);
  const auto start = Deadline::Clock::now();
  const SilenceWatch::Wait wait(watched.watch, Kind::any);
  EXPECT_TRUE(child.dies());
  EXPECT_GE(Deadline::Clock::now() - start, kPatience);
}

// As if all had been stopped, and this one were the first to go on.
TEST(SilenceWatch, DoesNotCountTheTimeInWhichItWasStoppedItself) {
  const Child stopped(kStop);
  const Child missing(kNothing);
  SilenceWatch watch(std::chrono::seconds(3));
  watch.observe(std::vector{watch.address(), stopped.address(), missing.address()});
  const SilenceWatch::Wait wait(watch, Kind::round);
  std::this_thread::sleep_for(2 * LivedClock::kBetweenLooks);  // until it has seen that they are silent
  LivedClock::stop_for(std::chrono::hours(1));
  std::this_thread::sleep_for(2 * LivedClock::kBetweenLooks);
  EXPECT_TRUE(stopped.lives());
  EXPECT_TRUE(missing.lives());
  while (stopped.lives()) std::this_thread::sleep_for(kPatience / 10);
}

TEST(SilenceWatch, LeavesAStoppedProcessAloneThatNobodyWaitsFor) {
  const Child child(kStop);
  Watched watched(child);
  { const SilenceWatch::Wait wait(watched.watch, Kind::any); }
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, LeavesAProcessAloneThatRuns) {
  const Child child(kNothing);
  Watched watched(child);
  const SilenceWatch::Wait wait(watched.watch, Kind::any);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, KillsAProcessThatDoesNotComeToARound) {
  const Child child(kNothing);
  Watched watched(child);
  const SilenceWatch::Wait wait(watched.watch, Kind::round);
  EXPECT_TRUE(child.dies());
}

TEST(SilenceWatch, GivesAProcessThatDoesNotComeTwiceTheTimeOfOneThatIsStopped) {
  const Child child(kNothing);
  Watched watched(child);
  const auto start = Deadline::Clock::now();
  const SilenceWatch::Wait wait(watched.watch, Kind::round);
  EXPECT_TRUE(child.dies());
  EXPECT_GE(Deadline::Clock::now() - start, 2 * kPatience);
}

TEST(SilenceWatch, LeavesAProcessAloneThatHasComeToTheRound) {
  const Child child(kCome);
  Watched watched(child);
  const SilenceWatch::Wait wait(watched.watch, Kind::round);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, ForgetsProcessesThatAreNotNamedAgain) {
  const Child child(kStop);
  Watched watched(child);
  watched.watch.observe({});
  const SilenceWatch::Wait wait(watched.watch, Kind::any);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, DoesNotKillAnotherProcessUnderTheSameNumber) {
  const Child child(kStop);
  auto address = child.address();
  ++address.page.key;
  SilenceWatch watch(kPatience);
  watch.observe(std::vector{address});
  const SilenceWatch::Wait wait(watch, Kind::any);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, LeavesProcessesOfOtherNodesAlone) {
  const Child child(kStop);
  auto address = child.address();
  ++address.node;
  SilenceWatch watch(kPatience);
  watch.observe(std::vector{address});
  const SilenceWatch::Wait wait(watch, Kind::any);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, OfALateProcessTakesUpTheRoundsOfTheOthers) {
  SilenceWatch late(kPatience);
  SilenceWatch::Address other;
  other.rounds = 7;
  late.observe(std::vector{other});
  EXPECT_EQ(late.address().rounds, 7U);
}

TEST(SilenceWatch, WakesAProcessThatSleeps) {
  const Child child(kSleep);
  Watched watched(child);
  std::this_thread::sleep_for(kPatience);
  watched.watch.ring();
  EXPECT_TRUE(child.dies());
}

TEST(SilenceWatch, DoesNotWakeAProcessThatNobodyRingsFor) {
  const Child child(kSleep);
  const Watched watched(child);
  EXPECT_FALSE(child.dies());
}

TEST(SilenceWatch, DoesNotSleepAfterARingThatItHasNotSeen) {
  const Child child([](SilenceWatch& watch) {
    std::this_thread::sleep_for(kPatience);
    kSleep(watch);
  });
  Watched watched(child);
  watched.watch.ring();
  EXPECT_TRUE(child.dies());
}

TEST(SilenceWatch, SleepsForTheTimeGivenIfNobodyRings) {
  SilenceWatch watch(kPatience);
  (void)watch.address();
  const auto start = Deadline::Clock::now();
  EXPECT_FALSE(watch.sleep(watch.rings(), milliseconds(20)));
  EXPECT_GE(Deadline::Clock::now() - start, milliseconds(19));
}

}  // namespace
}  // namespace fenix_impl
