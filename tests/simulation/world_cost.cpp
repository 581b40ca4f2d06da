// SPDX-License-Identifier: BSD-3-Clause
// Time of a thread where a machine's costs count.
#include <algorithm>

#include "cost.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr double kMostDebt = 1'000;   // that a thread lets pass later, so that fewer switches are needed
constexpr unsigned kLooksInTurn = 4;  // beside those at requests, before a thread waits
constexpr Time kFirstWait = 6'400;
constexpr unsigned kMostDoublings = 10;  // of a wait, up to some 7 ms

}  // namespace

void World::step_by_cost(Fiber& fiber) {
  fiber.clock_looks = 0;
  charge(machine()->call);
  if (fiber.debt >= kMostDebt) pay(fiber);
}

Time World::time_here() const {
  const Fiber* fiber = scheduler_.present();
  return fiber == nullptr ? now() : now() + static_cast<Time>(fiber->debt);
}

void World::charge(double time) {
  if (Fiber* fiber = scheduler_.present(); fiber != nullptr) fiber->debt += time;
}

void World::pay(Fiber& fiber) {
  const Time time = time_here();
  fiber.debt = 0;
  scheduler_.give_away(time);
}

// All requests may be looked at in turn, before it is clear that nothing has come.
void World::idle_by_cost(Fiber& fiber, Time least) {
  auto& arrivals = fiber.process->arrivals;
  charge(machine()->call);
  for (; !arrivals.empty() && arrivals.top() <= time_here(); arrivals.pop()) fiber.idle_looks = 0;
  const unsigned free = kLooksInTurn + fiber.process->open_requests;
  if (least == 0 && fiber.idle_looks < free) {
    ++fiber.idle_looks;
    fiber.clock_looks = 0;
    if (fiber.debt >= kMostDebt) pay(fiber);
    return;
  }
  const unsigned doublings = fiber.idle_looks < free ? 0 : std::min(fiber.idle_looks - free, kMostDoublings);
  ++fiber.idle_looks;
  fiber.idle = true;
  fiber.earliest = time_here() + least;
  Time until = time_here() + std::max(least, kFirstWait << doublings);
  if (!arrivals.empty()) until = std::max(fiber.earliest, std::min(until, arrivals.top()));
  fiber.debt = 0;
  scheduler_.give_away(until);
  fiber.looked_at = 0;
}

}  // namespace fenix_simulation
