// SPDX-License-Identifier: BSD-3-Clause
// Ends of processes, of nodes, of jobs, and of the schedule itself.
#include <algorithm>
#include <set>
#include <string>

#include "cost.hpp"
#include "disk.hpp"
#include "kernel.hpp"
#include "points.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr Time kMicrosecond = 1'000;
constexpr Time kMillisecond = 1'000'000;
constexpr Time kSecond = 1'000'000'000;

}  // namespace

// The process that runs goes last: it never comes back.
void World::kill_all(const std::function<bool(const Process&)>& is_of_them, const char* why) {
  Process* own = nullptr;
  for (Process& each : processes_) {
    if (!is_of_them(each)) continue;
    each.victim = true;
    if (&each == present_process()) {
      own = &each;
    } else {
      kill(each, why);
    }
  }
  if (own != nullptr) kill(*own, why);
}

void World::lose_disks_of(int node) {
  lose_node(node, [this](std::uint64_t below) { return choices_.draw(Kind::disk, -1, below); });
}

void World::kill_node(int node) {
  lose_disks_of(node);
  kill_all([node](const Process& each) { return each.node == node; }, "the schedule, with its node");
}

void World::fail_power() {
  std::set<int> nodes;
  for (const Process& each : processes_) nodes.insert(each.node);
  for (const int node : nodes) lose_disks_of(node);
  kill_all([](const Process&) { return true; }, "the schedule, with all nodes");
}

// mpirun ends its ranks by signals, one after the other.
void World::kill_job(int job) {
  constexpr Time kLongest = 3 * kMillisecond;
  const auto is_of_it = [job](const Process& each) { return each.job == job; };
  Time last = now();
  for (Process& each : processes_) {
    if (!is_of_it(each) || !each.alive) continue;
    each.victim = true;
    last = std::max(last, now() + choices_.draw(Kind::stall, each.number, kLongest));
    scheduler_.at(last, [this, &each] { kill(each, "the schedule, with its job"); });
  }
}

bool World::knows_of(const Process& process, Pid dead, Time now) {
  const auto notice = process.notices.find(dead);
  return notice != process.notices.end() && notice->second <= now;
}

void World::kill(Process& process, const std::string& why) {
  if (!process.alive || process.exited) return;
  process.alive = false;
  gone_.push_back(process.pid);
  note(static_cast<std::uint64_t>(process.pid),
       [&] { return "process " + std::to_string(process.number) + " DIES: " + why; });
  if (!process.victim) {
    if (present_process() == &process && may_end_itself()) give_up("a rank is silent, alone on its node");
    violate("process " + std::to_string(process.number) + " has ended: " + why);
    return;
  }
  release_kernel_state(process);
  for (Process& other : processes_) {
    if (!other.alive || other.job != process.job) continue;
    Time late = choices_.draw(Kind::notice, other.number, 800 * kMicrosecond);
    if (surroundings_.late_notices) {
      const std::uint64_t dice = choices_.draw(Kind::notice, other.number, 32);
      if (dice >= 24) late = choices_.draw(Kind::notice, other.number, 20 * kMillisecond);
      if (dice == 31) late = choices_.draw(Kind::notice, other.number, 2 * kSecond);
    }
    if (surroundings_.slow_notices) late = kSecond + choices_.draw(Kind::notice, other.number, kSecond);
    if (machine() != nullptr) late = static_cast<Time>(machine()->notice);
    other.notices[process.pid] = now() + 5 * kMicrosecond + late;
    scheduler_.at(other.notices[process.pid], [this, &other] { stir(other); });
  }
  for (const auto& listener : listeners_) listener(process);
  for (const auto& listener : gone_listeners_) listener(process);
  if (present_process() == &process) scheduler_.vanish();
}

void World::end(Process& process) {
  process.exited = true;
  note(2, [&] { return "process " + std::to_string(process.number) + " ends"; });
  process.alive = false;
  gone_.push_back(process.pid);
  release_kernel_state(process);
  for (const auto& listener : gone_listeners_) listener(process);
}

void World::violate(const std::string& text, const std::string& promise) {
  if (verdict_.is_good()) {
    verdict_ = {promise, text};
    if (traces_) write(promise + " BROKEN: " + text);
  }
  scheduler_.stop();
  if (scheduler_.present() != nullptr) scheduler_.vanish();
}

void World::give_up(const char* why) {
  note(7, [&] { return std::string("nothing more is judged: ") + why; });
  gives_up_ = true;
  scheduler_.stop();
  scheduler_.vanish();
}

bool World::has_stopped_for(Time time) const {
  return std::any_of(happened_.begin(), happened_.end(), [&](const Happened& each) {
    const Event& event = events_[each.event];
    return event.what == Event::What::stop && event.later >= time;
  });
}

bool World::is_alone(const Process& process) const {
  return std::none_of(processes_.begin(), processes_.end(), [&](const Process& other) {
    return other.alive && other.node == process.node && other.job == process.job && other.pid != process.pid;
  });
}

// Nobody ends a process that is alone on its node, or does not watch yet: known issues says what the others do.
bool World::may_end_itself() const {
  static const int watches = number_of_point("init.watched");
  return has_stopped_for(own_ends_after_) &&
         std::any_of(processes_.begin(), processes_.end(), [&](const Process& each) {
           return each.stopped && (is_alone(each) || each.passes.count(watches) == 0);
         });
}

}  // namespace fenix_simulation
