// SPDX-License-Identifier: BSD-3-Clause
// The simulated world: processes on nodes, a clock, deaths, and who knows of them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choices.hpp"
#include "objects.hpp"
#include "plan.hpp"
#include "process.hpp"
#include "scheduler.hpp"

namespace fenix_simulation {

/// A promise that was broken; empty: none.
struct Verdict {
  std::string promise;
  std::string text;

  [[nodiscard]] bool is_good() const { return promise.empty(); }
};

/// An event that has happened, and how far the others were.
struct Happened {
  std::size_t event = 0;  ///< number in the plan
  Time time = 0;
  Place place;
  std::vector<int> points;   ///< the last one of each process, −1 if there was none
  std::size_t passages = 0;  ///< before it
};

/// A process has passed a fault point.
struct Passage {
  int process = 0;
  int point = 0;
  std::uint64_t place = 0;
};

class World {
 public:
  World(Image& image, Choices& choices, const Surroundings& surroundings, std::vector<Event> events, bool traces);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Starts a rank of the first job.
  Process& start(int node, std::function<void()> program);
  /// number: nobody else has it.
  Process& start(int node, int number, int job, std::function<void()> program);
  void run();

  // --------------------------------------------------------------------------------------------------------- what there is

  [[nodiscard]] Time now() const { return scheduler_.now(); }
  /// Returns the time of the thread that runs: later, if it has used time that has not yet passed.
  [[nodiscard]] Time time_here() const;
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Objects& objects() { return objects_; }
  [[nodiscard]] const Surroundings& surroundings() const { return surroundings_; }
  [[nodiscard]] std::deque<Process>& processes() { return processes_; }
  /// Returns those that have died or ended.
  [[nodiscard]] const std::vector<Pid>& gone() const { return gone_; }
  /// Returns null if there has never been such a process.
  [[nodiscard]] Process* find(Pid pid);
  /// Returns whether ranks of a job are left.
  [[nodiscard]] bool has_ranks_of(int job) const;
  [[nodiscard]] std::uint64_t draw(Kind kind, std::uint64_t below);
  /// Returns a number from least to most, which is least if nothing is drawn.
  [[nodiscard]] std::uint64_t draw(Kind kind, std::uint64_t least, std::uint64_t most) {
    return least + draw(kind, most - least + 1);
  }

  // ------------------------------------------------------------------------------------------- for a process that runs

  /// Counts a place at which an event may happen.
  void pass_place();
  void pass_point(const char* name);
  /// Changes a bit if the event that has just happened is a flip.
  void damage(std::span<std::byte> bytes);
  /// Says whether the event that has just happened is a refusal by the system.
  [[nodiscard]] bool takes_refusal(std::string_view point);
  /// Has something done, which takes a while.
  void step();
  /// Counts time that the thread that runs has used.
  void charge(double time);
  /// Has looked for something, and not found it. Waits longer each time, until something reaches the process.
  void idle(Time least = 0);
  void sleep_until(Time time);
  /// Lets the threads of a process look again: something has reached it, or will at a time.
  void stir(Process& process, Time at = 0);
  /// The same for those that have looked at memory that was written.
  void stir_reader(Process& process, std::uint64_t bit);

  // -------------------------------------------------------------------------------------------------------------- ends

  void kill(Process& process, const std::string& why);
  void end(Process& process);
  [[nodiscard]] static bool knows_of(const Process& process, Pid dead, Time now);
  /// A promise is broken: ends the schedule. Comes back only if the world itself calls.
  void violate(const std::string& text, const std::string& promise = "P4");
  /// Ends the schedule without a verdict.
  void give_up(const char* why);
  /// Returns whether the schedule has stopped a process for at least so long.
  [[nodiscard]] bool has_stopped_for(Time time) const;
  /// Lets processes end themselves when one that nobody on its node can end has been stopped for so long.
  void allow_own_ends_after(Time time) { own_ends_after_ = time; }
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  [[nodiscard]] bool has_given_up() const { return gives_up_; }
  [[nodiscard]] const std::vector<Happened>& happened() const { return happened_; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<Passage>& passages() const { return passages_; }
  /// For who wants to know of each death.
  void on_death(std::function<void(Process&)> listener) { listeners_.push_back(std::move(listener)); }
  /// For who wants to know of each process that dies or ends.
  void on_gone(std::function<void(Process&)> listener) { gone_listeners_.push_back(std::move(listener)); }
  /// For who wants to know of damage.
  void on_damage(std::function<void(Process&)> listener) { damage_listener_ = std::move(listener); }

  // -------------------------------------------------------------------------------------------------------------- trace

  /// Counts for the hash of the schedule. text() is asked for only if somebody reads.
  template <class Text>
  void note(std::uint64_t what, Text&& text) {
    scheduler_.mix(what);
    if (traces_) write(text());
  }
  [[nodiscard]] bool traces() const { return traces_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  /// How far a process was when the event happened that its own one comes after.
  struct From {
    std::uint64_t places = 0;
    std::uint64_t passes = 0;
  };
  void write(const std::string& text);
  [[nodiscard]] bool is_due(const Event& event) const {
    return event.after < 0 || done_[static_cast<std::size_t>(event.after)];
  }
  [[nodiscard]] std::string busiest() const;
  void note_from(std::size_t before);
  void arm(Process& process);
  void arm_all();
  void act(Process& process);
  void do_event(std::size_t number, Process& process);
  void kill_all(const std::function<bool(const Process&)>& is_of_them, const char* why);
  void kill_node(int node);
  void kill_job(int job);
  void fail_power();
  void lose_disks_of(int node);
  void pause(Time time, bool may_hold);
  void pay(Fiber& fiber);
  void step_by_cost(Fiber& fiber);
  void idle_by_cost(Fiber& fiber, Time least);
  [[nodiscard]] bool is_alone(const Process& process) const;
  [[nodiscard]] bool may_end_itself() const;

  Choices& choices_;
  Surroundings surroundings_;
  std::vector<Event> events_;
  std::vector<bool> done_;
  std::vector<From> from_;  ///< by event
  bool traces_;
  Scheduler scheduler_;
  Objects objects_;
  std::deque<Process> processes_;
  std::vector<Process*> by_number_;
  std::vector<Pid> gone_;
  std::vector<Happened> happened_;
  std::vector<Passage> passages_;
  bool flips_ = false;
  std::string refused_point_;  ///< at which the next request of the system fails
  bool gives_up_ = false;
  Time own_ends_after_ = kNever;
  std::vector<std::function<void(Process&)>> listeners_;
  std::vector<std::function<void(Process&)>> gone_listeners_;
  std::function<void(Process&)> damage_listener_;
  std::vector<std::string> lines_;
  Verdict verdict_;
};

/// The world that there is now.
World& world();
bool has_world();

}  // namespace fenix_simulation
