// SPDX-License-Identifier: BSD-3-Clause
#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "cost.hpp"
#include "kernel.hpp"
#include "mpi/state.hpp"
#include "points.hpp"

namespace fenix_simulation {
namespace {

constexpr Time kMicrosecond = 1'000;
constexpr Time kMillisecond = 1'000'000;
constexpr Time kSecond = 1'000'000'000;

constexpr Time kLongestSchedule = 2000 * kSecond;
constexpr std::uint64_t kMostSwitches = 4'000'000;
constexpr Time kLongestByCost = 100'000 * kSecond;

constexpr Time kShortestStep = 100;
constexpr Time kLongestStep = 2 * kMicrosecond;
constexpr Time kFirstLook = 800;         // what reaches the process wakes it earlier
constexpr unsigned kMostDoublings = 12;  // of the time between two looks, up to some 5 ms

World* the_world = nullptr;

bool is_at(const Process& process, const Event& event) {
  return process.place.point >= 0 && name_of_point(process.place.point) == event.point;
}

}  // namespace

World& world() { return *the_world; }

bool has_world() { return the_world != nullptr; }

Process* present_process() {
  if (the_world == nullptr) return nullptr;
  Fiber* fiber = the_world->scheduler().present();
  return fiber != nullptr ? fiber->process : nullptr;
}

Process::Process(int its_number, int its_node, int its_job)
    : number(its_number),
      node(its_node),
      job(its_job),
      pid(kFirstPid + its_number),
      heap(static_cast<std::size_t>(its_number)),
      kernel(std::make_unique<KernelState>()),
      mpi(std::make_unique<mpi::ProcessState>()) {}

Process::~Process() = default;

void* Process::take_memory(std::size_t bytes, std::size_t alignment) {
  const std::uint64_t request = requests_of_memory++;
  if (memory_fails_from <= request && request < memory_fails_to) return nullptr;
  return heap.allocate(bytes, alignment);
}

World::World(Image& image, Choices& choices, const Surroundings& surroundings, std::vector<Event> events, bool traces)
    : choices_(choices),
      surroundings_(surroundings),
      events_(std::move(events)),
      done_(events_.size()),
      from_(events_.size()),
      traces_(traces),
      scheduler_(image, machine() != nullptr ? kLongestByCost : kLongestSchedule,
                 machine() != nullptr ? ~std::uint64_t{0} : kMostSwitches) {
  the_world = this;
}

World::~World() { the_world = nullptr; }

Process& World::start(int node, std::function<void()> program) {
  return start(node, static_cast<int>(processes_.size()), 0, std::move(program));
}

Process& World::start(int node, int number, int job, std::function<void()> program) {
  Process& process = processes_.emplace_back(number, node, job);
  const auto index = static_cast<std::size_t>(number);
  if (index >= by_number_.size()) by_number_.resize(index + 1);
  by_number_[index] = &process;
  process.data = image_of_program().fresh();
  process.slowness = 1 + choices_.draw(Kind::stall, process.number, surroundings_.uneven);
  scheduler_.start(process, [this, &process, program = std::move(program)] {
    program();
    end(process);
  });
  arm(process);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (event.process != process.number || event.when != Event::When::time) continue;
    scheduler_.at(event.number, [this, i, &process] {
      if (!done_[i] && process.alive && !process.exited) do_event(i, process);
    });
  }
  return process;
}

void World::run() {
  const bool in_time = scheduler_.run();
  if (!verdict_.is_good() || gives_up_) return;
  if (!in_time)
    violate("the schedule does not end: " + std::to_string(now() / kMillisecond) + " virtual ms" + busiest());
  for (const Process& process : processes_) {
    if (verdict_.is_good() && process.alive && !process.exited) {
      violate("process " + std::to_string(process.number) + " waits for something that cannot come");
    }
  }
}

std::string World::busiest() const {
  const auto most = std::max_element(processes_.begin(), processes_.end(),
                                     [](const Process& a, const Process& b) { return a.switches < b.switches; });
  return ", process " + std::to_string(most->number) + " runs " + std::to_string(most->switches) + " times";
}

Process* World::find(Pid pid) {
  const auto number = static_cast<std::size_t>(pid - kFirstPid);
  return pid >= kFirstPid && number < by_number_.size() ? by_number_[number] : nullptr;
}

bool World::has_ranks_of(int job) const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](const Process& each) { return each.job == job && each.alive && !each.exited; });
}

std::uint64_t World::draw(Kind kind, std::uint64_t below) {
  const Process* process = present_process();
  return choices_.draw(kind, process != nullptr ? process->number : -1, below);
}

// ------------------------------------------------------------------------------------------------------------------ events

// Finds the next place of a process at which something has to happen.
void World::arm(Process& process) {
  process.act_at = kNever;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (done_[i] || event.watched() != process.number || !is_due(event)) continue;
    if (event.when == Event::When::place) process.act_at = std::min(process.act_at, from_[i].places + event.number);
    if (event.when == Event::When::point && is_at(process, event) &&
        process.passes[process.place.point] == from_[i].passes + event.number) {
      process.act_at = std::min(process.act_at, process.places + event.places_behind() - process.place.after);
    }
  }
}

// Others may have waited for an event.
void World::arm_all() {
  for (Process& each : processes_) {
    if (each.alive) arm(each);
  }
}

void World::pass_place() {
  Process& process = *present_process();
  ++process.place.after;
  if (process.places++ >= process.act_at) act(process);
}

void World::pass_point(const char* name) {
  Process& process = *present_process();
  process.place.point = number_of_point(name);
  process.place.pass = ++process.passes[process.place.point];
  process.place.after = 0;
  passages_.push_back({process.number, process.place.point, process.places});
  note(static_cast<std::uint64_t>(process.place.point), [&] { return std::string("passes ") + name; });
  if (!events_.empty()) arm(process);
  if (process.places++ >= process.act_at) act(process);
}

void World::damage(std::span<std::byte> bytes) {
  if (!std::exchange(flips_, false) || bytes.empty()) return;
  const std::uint64_t bit = draw(Kind::random, bytes.size() * 8);
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  if (damage_listener_) damage_listener_(*present_process());
  note(bit, [&] { return "bit " + std::to_string(bit) + " of " + std::to_string(bytes.size()) + " bytes FLIPS"; });
}

bool World::takes_refusal(std::string_view point) {
  if (refused_point_ != point) return false;
  refused_point_.clear();
  return true;
}

void World::act(Process& process) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (done_[i] || event.watched() != process.number || event.when == Event::When::time || !is_due(event)) continue;
    const bool is_here = event.when == Event::When::place
                             ? process.places > from_[i].places + event.number
                             : is_at(process, event) && process.place.pass == from_[i].passes + event.number &&
                                   process.place.after >= event.places_behind();
    Process* victim = find(kFirstPid + event.process);
    if (is_here && victim != nullptr && (victim->alive || event.at < 0)) do_event(i, *victim);
  }
  arm(process);
}

// Counts of events that come after another one begin here.
void World::note_from(std::size_t before) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    Process* process = find(kFirstPid + event.watched());
    if (event.after != static_cast<int>(before) || process == nullptr) continue;
    from_[i].places = process->places;
    if (event.when == Event::When::point) from_[i].passes = process->passes[number_of_point(event.point)];
  }
}

void World::do_event(std::size_t number, Process& process) {
  const Event event = events_[number];
  done_[number] = true;
  note_from(number);
  if (event.what == Event::What::pass) {
    arm_all();
    return;
  }
  Happened happened{number, now(), process.place, {}, passages_.size()};
  for (const Process& each : processes_) happened.points.push_back(each.alive ? each.place.point : -1);
  happened_.push_back(std::move(happened));
  const bool ends_or_stops = event.what == Event::What::die || event.what == Event::What::node_dies ||
                             event.what == Event::What::stop || event.what == Event::What::job_dies ||
                             event.what == Event::What::power_fails;
  process.victim = process.victim || ends_or_stops;
  arm_all();
  switch (event.what) {
    case Event::What::die:
      kill(process, "the schedule");
      break;
    case Event::What::node_dies:
      kill_node(process.node);
      break;
    case Event::What::power_fails:
      fail_power();
      break;
    case Event::What::job_dies:
      kill_job(process.job);
      break;
    case Event::What::stop:
      process.stopped = true;
      note(1, [] { return "is STOPPED"; });
      scheduler_.at(now() + event.later, [this, &process] {
        process.stopped = false;
        stir(process);
      });
      if (present_process() == &process) pause(1, false);
      break;
    case Event::What::flip:
      flips_ = true;  // the fault point has the bytes
      break;
    case Event::What::refuse:
      refused_point_ = event.point;
      break;
    case Event::What::pass:
      break;
    case Event::What::no_memory:
      process.memory_fails_from = process.requests_of_memory;
      process.memory_fails_to = process.requests_of_memory + event.later;
      break;
  }
}

// -------------------------------------------------------------------------------------------------------------------- time

void World::pause(Time time, bool may_hold) {
  Process& process = *present_process();
  if (may_hold && surroundings_.stalls > 0 && draw(Kind::stall, surroundings_.stalls) == surroundings_.stalls - 1) {
    process.held_until = now() + draw(Kind::stall, 5 * kMillisecond);
  }
  scheduler_.give_away(now() + time * process.slowness);
}

void World::step() {
  Fiber& fiber = *scheduler_.present();
  pass_place();
  fiber.idle_looks = 0;
  if (machine() != nullptr) {
    step_by_cost(fiber);
    return;
  }
  pause(draw(Kind::delay, kShortestStep, kLongestStep), true);
}

void World::idle(Time least) {
  Fiber& fiber = *scheduler_.present();
  pass_place();
  if (machine() != nullptr) {
    idle_by_cost(fiber, least);
    return;
  }
  fiber.idle = true;
  fiber.earliest = now() + least;
  const unsigned looks = std::min(fiber.idle_looks++, kMostDoublings);
  pause(std::max(least, draw(Kind::delay, kFirstLook, 2 * kFirstLook) << looks), false);
  fiber.looked_at = 0;
}

void World::sleep_until(Time time) {
  pass_place();
  if (time > now()) scheduler_.give_away(time);
}

void World::stir(Process& process, Time at) {
  const Time time = std::max(at, now() + kShortestStep);
  if (machine() != nullptr) process.arrivals.push(time);
  for (Fiber* fiber : process.fibers) {
    if (!fiber->idle) continue;
    fiber->idle_looks = 0;
    scheduler_.wake(*fiber, std::max(time, fiber->earliest));
  }
}

void World::stir_reader(Process& process, std::uint64_t bit) {
  for (Fiber* fiber : process.fibers) {
    if ((fiber->looked_at & bit) == 0) continue;
    if (machine() != nullptr) fiber->idle_looks = 0;
    if (!fiber->idle) continue;
    fiber->idle_looks = 0;
    scheduler_.wake(*fiber, std::max(now() + kShortestStep, fiber->earliest));
  }
}

void World::write(const std::string& text) {
  char head[64];
  const Process* process = present_process();
  std::snprintf(head, sizeof head, "%14.6f ms  %-9s ", static_cast<double>(time_here()) / 1e6,
                process != nullptr ? ("rank " + std::to_string(process->number)).c_str() : "");
  lines_.push_back(head + text);
}

}  // namespace fenix_simulation
