// SPDX-License-Identifier: BSD-3-Clause
#include "scheduler.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "process.hpp"

namespace fenix_simulation {
namespace {

// Stacks outlive a schedule: to make one takes longer than to use it.
std::vector<std::unique_ptr<Stack>>& free_stacks() {
  static std::vector<std::unique_ptr<Stack>> stacks;
  return stacks;
}

}  // namespace

Scheduler::~Scheduler() {
  for (Fiber& fiber : fibers_) {
    if (fiber.stack != nullptr) free_stacks().emplace_back(fiber.stack);
  }
}

Stack& Scheduler::take_stack() {
  if (free_stacks().empty()) free_stacks().push_back(std::make_unique<Stack>());
  Stack* stack = free_stacks().back().release();
  free_stacks().pop_back();
  return *stack;
}

Fiber& Scheduler::start(Process& process, std::function<void()> work) {
  Fiber& fiber = fibers_.emplace_back();
  fiber.process = &process;
  fiber.number = fibers_.size();
  fiber.work = std::move(work);
  fiber.wake = now_;
  fiber.thread_data = image_.fresh_of_thread();
  prepare(fiber, take_stack());
  process.fibers.push_back(&fiber);
  push(fiber);
  return fiber;
}

void Scheduler::at(Time time, std::function<void()> work) {
  works_[next_number_] = std::move(work);
  queue_.push({std::max(time, now_), next_number_++, nullptr, 0});
}

void Scheduler::push(Fiber& fiber) { queue_.push({fiber.wake, next_number_++, &fiber, fiber.ticket}); }

void Scheduler::wake(Fiber& fiber, Time time) {
  if (fiber.wake <= time || &fiber == present_ || fiber.done) return;
  fiber.wake = time;
  ++fiber.ticket;
  push(fiber);
}

bool Scheduler::run() {
  while (!queue_.empty() && !stopped_) {
    const Entry entry = queue_.top();
    queue_.pop();
    if (entry.fiber == nullptr) {
      now_ = std::max(now_, entry.time);
      const auto work = works_.extract(entry.number);
      work.mapped()();
      continue;
    }
    Fiber& fiber = *entry.fiber;
    if (fiber.done || entry.ticket != fiber.ticket || !fiber.process->alive) continue;
    now_ = std::max(now_, entry.time);
    if (fiber.process->stopped || fiber.process->held_until > now_) {
      fiber.wake = std::max(now_ + 1'000'000, fiber.process->held_until);
      push(fiber);
      continue;
    }
    if (now_ > time_limit_ || ++switches_ > switch_limit_) return false;
    run(fiber);
  }
  return true;
}

void Scheduler::run(Fiber& fiber) {
  image_.change_to(fiber);
  present_ = &fiber;
  ++fiber.process->switches;
  enter(fiber);
  present_ = nullptr;
  mix(fiber.number);
  mix(now_);
  if (!fiber.done && fiber.process->alive) push(fiber);
  if (fiber.done) {
    auto& fibers = fiber.process->fibers;
    fibers.erase(std::find(fibers.begin(), fibers.end(), &fiber));
    free_stacks().emplace_back(std::exchange(fiber.stack, nullptr));
  }
}

void Scheduler::give_away(Time until) {
  Fiber& fiber = *present_;
  fiber.wake = until;
  fiber.clock_looks = 0;
  ++fiber.ticket;
  leave(fiber);
  fiber.idle = false;
}

void Scheduler::vanish() {
  leave(*present_);
  std::abort();
}

}  // namespace fenix_simulation
