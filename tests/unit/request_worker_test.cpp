// SPDX-License-Identifier: BSD-3-Clause
// The thread that serves asynchronous stores: in order, one at a time, and nothing of it is left after a cancellation.
#include "core/state/request.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/deadline.hpp"

namespace fenix_impl {
namespace {

using State = Request::State;
using Stop = std::atomic<bool>;
using std::chrono::milliseconds;

std::shared_ptr<Request> request(std::uint64_t id = 1) {
  return std::make_shared<Request>(id, std::vector<std::int32_t>{7});
}

// False after some seconds.
bool comes_true(const std::function<bool()>& condition) {
  const Deadline deadline{std::chrono::seconds(20)};
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

bool finishes(const Request& request) {
  return comes_true([&] { return !request.pending(); });
}

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// Work that begins, and goes on until it is let go or told to stop.
class Long {
 public:
  [[nodiscard]] RequestWorker::Work work() {
    return [this](const Stop& stop) {
      begun_ = true;
      while (!stop && !let_go_) std::this_thread::yield();
      saw_stop_ = stop.load();
      // A touch after the cancellation would be seen.
      std::this_thread::sleep_for(milliseconds(20));
      ended_ = true;
    };
  }
  [[nodiscard]] bool begins() const {
    return comes_true([this] { return begun_.load(); });
  }
  void let_go() { let_go_ = true; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool saw_stop() const { return saw_stop_; }

 private:
  std::atomic<bool> begun_ = false;
  std::atomic<bool> let_go_ = false;
  std::atomic<bool> saw_stop_ = false;
  std::atomic<bool> ended_ = false;
};

TEST(Request, IsPendingUntilItEnds) {
  const Request pending(5, {1, 2});
  EXPECT_TRUE(pending.pending());
  EXPECT_EQ(pending.id(), 5U);
  EXPECT_EQ(pending.members(), (std::vector<std::int32_t>{1, 2}));
  for (const State state : {State::done, State::cancelled}) {
    Request ended(5, {});
    ended.end(state);
    EXPECT_FALSE(ended.pending());
    EXPECT_EQ(ended.state(), state);
  }
}

TEST(RequestWorker, HasNoThreadBeforeTheFirstRequest) {
  // The thread sanitizer starts a thread of its own beside the first one of the process.
  std::thread([] {}).join();
  const auto before = threads();
  RequestWorker worker;
  EXPECT_EQ(threads(), before);
  worker.cancel();
  EXPECT_EQ(threads(), before);
  const auto first = request();
  worker.submit(first, [](const Stop&) {});
  EXPECT_EQ(threads(), before + 1);
  ASSERT_TRUE(finishes(*first));
  const auto second = request();
  worker.submit(second, [](const Stop&) {});
  EXPECT_EQ(threads(), before + 1) << "one for all";
  ASSERT_TRUE(finishes(*second));
}

TEST(RequestWorker, HasNoThreadAfterItsEnd) {
  const auto before = threads();
  {
    RequestWorker worker;
    worker.submit(request(), [](const Stop&) {});
  }
  EXPECT_TRUE(comes_true([&] { return threads() == before; }));
}

TEST(RequestWorker, WorksInAnotherThread) {
  RequestWorker worker;
  std::promise<std::thread::id> id;
  worker.submit(request(), [&](const Stop&) { id.set_value(std::this_thread::get_id()); });
  EXPECT_NE(id.get_future().get(), std::this_thread::get_id());
}

TEST(RequestWorker, KeepsTheOrder) {
  RequestWorker worker;
  Long first;
  std::vector<int> order;  // of the worker's thread, until the last one is done
  worker.submit(request(), first.work());
  std::vector<std::shared_ptr<Request>> requests;
  for (int number = 0; number < 100; ++number) {
    requests.push_back(request());
    worker.submit(requests.back(), [&order, number](const Stop&) { order.push_back(number); });
  }
  ASSERT_TRUE(first.begins());
  for (const auto& each : requests) EXPECT_TRUE(each->pending()) << "one at a time";
  first.let_go();
  ASSERT_TRUE(finishes(*requests.back()));
  for (const auto& each : requests) EXPECT_EQ(each->state(), State::done);
  ASSERT_EQ(order.size(), 100U);
  for (int number = 0; number < 100; ++number) EXPECT_EQ(order[static_cast<std::size_t>(number)], number);
}

TEST(RequestWorker, IsDoneOnlyWhenTheWorkIs) {
  RequestWorker worker;
  Long work;
  const auto first = request();
  worker.submit(first, work.work());
  ASSERT_TRUE(work.begins());
  EXPECT_TRUE(first->pending());
  work.let_go();
  ASSERT_TRUE(finishes(*first));
  EXPECT_TRUE(work.ended());
  EXPECT_FALSE(work.saw_stop());
  EXPECT_EQ(first->state(), State::done);
}

TEST(RequestWorker, ErrorsEndTheirRequestAndNoOther) {
  RequestWorker worker;
  const auto fails = request();
  const auto fails_strangely = request();
  const auto works = request();
  worker.submit(fails, [](const Stop&) { throw Error(FENIX_ERROR_NO_MEMORY, "no more"); });
  worker.submit(fails_strangely, [](const Stop&) { throw std::logic_error("strange"); });
  worker.submit(works, [](const Stop&) {});
  ASSERT_TRUE(finishes(*works));
  EXPECT_EQ(works->state(), State::done);
  ASSERT_EQ(fails->state(), State::failed);
  EXPECT_EQ(fails->error().code(), FENIX_ERROR_NO_MEMORY);
  EXPECT_STREQ(fails->error().what(), "no more");
  ASSERT_EQ(fails_strangely->state(), State::failed);
  EXPECT_EQ(fails_strangely->error().code(), FENIX_ERROR_INTERN);
  EXPECT_STREQ(fails_strangely->error().what(), "strange");
}

TEST(RequestWorker, CancelEndsWhatRunsAndWhatWaits) {
  RequestWorker worker;
  Long work;
  const auto running = request();
  const auto waiting = request();
  bool begun = false;
  worker.submit(running, work.work());
  worker.submit(waiting, [&](const Stop&) { begun = true; });
  ASSERT_TRUE(work.begins());
  worker.cancel();
  EXPECT_TRUE(work.ended()) << "it touches nothing any more";
  EXPECT_TRUE(work.saw_stop());
  EXPECT_EQ(running->state(), State::cancelled);
  EXPECT_EQ(waiting->state(), State::cancelled);
  const auto next = request();
  worker.submit(next, [](const Stop&) {});
  ASSERT_TRUE(finishes(*next));
  EXPECT_FALSE(begun);
}

TEST(RequestWorker, WorksOnAfterACancellation) {
  RequestWorker worker;
  for (int round = 0; round < 50; ++round) {
    worker.cancel();
    const auto after = request();
    Stop told_to_stop = true;
    worker.submit(after, [&](const Stop& stop) { told_to_stop = stop.load(); });
    ASSERT_TRUE(finishes(*after));
    EXPECT_EQ(after->state(), State::done);
    EXPECT_FALSE(told_to_stop);
  }
}

TEST(RequestWorker, CancelKeepsWhatWasDone) {
  RequestWorker worker;
  const auto done = request();
  const auto failed = request();
  worker.submit(done, [](const Stop&) {});
  worker.submit(failed, [](const Stop&) { throw Error(FENIX_ERROR_INTERN, "x"); });
  ASSERT_TRUE(finishes(*failed));
  worker.cancel();
  EXPECT_EQ(done->state(), State::done);
  EXPECT_EQ(failed->state(), State::failed);
}

// Objects that the work holds are given back when cancel returns: regions are unmapped after that.
TEST(RequestWorker, LetsGoOfTheWorkBeforeCancelReturns) {
  RequestWorker worker;
  for (int round = 0; round < 200; ++round) {
    const auto held = std::make_shared<int>(0);
    for (int i = 0; i < 3; ++i) worker.submit(request(), [held](const Stop&) { ++*held; });
    if (round % 2 == 0) std::this_thread::yield();
    worker.cancel();
    ASSERT_EQ(held.use_count(), 1) << "round " << round;
  }
}

TEST(RequestWorker, EndsWithWorkPending) {
  Long work;
  const auto running = request();
  const auto waiting = request();
  {
    RequestWorker worker;
    worker.submit(running, work.work());
    worker.submit(waiting, [](const Stop&) { ADD_FAILURE() << "begun after all"; });
    ASSERT_TRUE(work.begins());
  }
  EXPECT_TRUE(work.ended());
  EXPECT_EQ(running->state(), State::cancelled);
  EXPECT_EQ(waiting->state(), State::cancelled);
}

TEST(RequestWorker, EndsAtAnyTime) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::shared_ptr<Request>> requests;
    {
      RequestWorker worker;
      for (int i = 0; i < round % 4; ++i) {
        requests.push_back(request());
        worker.submit(requests.back(), [](const Stop&) {});
      }
    }
    for (const auto& each : requests) {
      EXPECT_TRUE(each->state() == State::done || each->state() == State::cancelled) << "round " << round;
    }
  }
}

// Signals are for the application's threads.
TEST(RequestWorker, TakesNoSignals) {
  for (int round = 0; round < 20; ++round) {
    RequestWorker worker;
    std::promise<bool> blocked;
    worker.submit(request(), [&](const Stop&) {
      sigset_t set;
      sigemptyset(&set);
      pthread_sigmask(SIG_BLOCK, nullptr, &set);
      blocked.set_value(sigismember(&set, SIGUSR1) == 1 && sigismember(&set, SIGTERM) == 1);
    });
    EXPECT_TRUE(blocked.get_future().get());
    sigset_t mine;
    sigemptyset(&mine);
    pthread_sigmask(SIG_BLOCK, nullptr, &mine);
    EXPECT_EQ(sigismember(&mine, SIGUSR1), 0) << "and the caller as before";
  }
}

}  // namespace
}  // namespace fenix_impl
