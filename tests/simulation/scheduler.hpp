// SPDX-License-Identifier: BSD-3-Clause
// The order in which fibers run, by a virtual clock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "fiber.hpp"
#include "image.hpp"

namespace fenix_simulation {

class Scheduler {
 public:
  Scheduler(Image& image, Time time_limit, std::uint64_t switch_limit)
      : image_(image), time_limit_(time_limit), switch_limit_(switch_limit) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Makes a thread of a process, which begins now.
  Fiber& start(Process& process, std::function<void()> work);
  /// Has something done at a time, by the world itself.
  void at(Time time, std::function<void()> work);
  /// Runs until nothing is left to run, or stop() is called. Returns false if a limit was passed.
  bool run();
  void stop() { stopped_ = true; }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] Fiber* present() const { return present_; }
  [[nodiscard]] std::uint64_t switches() const { return switches_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3U; }

  // For the fiber that runs.

  /// Lets others run until a time.
  void give_away(Time until);
  /// Never comes back.
  [[noreturn]] void vanish();
  /// Lets a fiber run at a time if it would have run later.
  void wake(Fiber& fiber, Time time);

 private:
  struct Entry {
    Time time;
    std::uint64_t number;  ///< entries of the same time keep their order
    Fiber* fiber;
    std::uint64_t ticket;
    bool operator<(const Entry& other) const { return time != other.time ? time > other.time : number > other.number; }
  };
  void push(Fiber& fiber);
  void run(Fiber& fiber);
  Stack& take_stack();

  Image& image_;
  Time time_limit_;
  std::uint64_t switch_limit_;
  Time now_ = 0;
  Fiber* present_ = nullptr;
  std::deque<Fiber> fibers_;
  std::priority_queue<Entry> queue_;
  std::map<std::uint64_t, std::function<void()>> works_;  ///< by number of the entry
  std::uint64_t next_number_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  bool stopped_ = false;
};

}  // namespace fenix_simulation
