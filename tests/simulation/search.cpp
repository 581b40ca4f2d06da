// SPDX-License-Identifier: BSD-3-Clause
#include "search.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "coverage.hpp"
#include "mutate.hpp"
#include "run.hpp"

namespace fenix_simulation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostText = 8192;
constexpr std::uint64_t kSchedulesOfAProcess = 3000;  // then another one goes on: memory that processes left goes back
constexpr std::size_t kMostKept = 400;

/// All that the searching processes share.
struct Shared {
  Coverage coverage;
  std::atomic<std::uint64_t> schedules;
  std::atomic<std::uint64_t> failures;
  std::atomic<std::uint64_t> switches;
  std::atomic<std::uint64_t> events;
  std::atomic<std::uint64_t> restores;
  std::atomic<std::uint64_t> next_seed;
  std::atomic<bool> stop;
  std::array<std::array<char, kMostText>, 64> present;  ///< the schedule that each process runs, as text
};

Shared* make_shared_memory() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) Shared;
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/// A schedule that has come to something new, and where it has come to after its last event.
struct Kept {
  Schedule schedule;
  int last_point = -1;
  std::vector<Passage> passages;
};

class Searcher {
 public:
  Searcher(Shared& shared, const SearchOptions& options, int number, Clock::time_point end)
      : shared_(shared), options_(options), number_(static_cast<std::size_t>(number)), end_(end) {}

  void run() {
    for (std::uint64_t i = 0; i < kSchedulesOfAProcess && !is_over(); ++i) try_one(choose());
  }

 private:
  [[nodiscard]] bool is_over() const {
    return shared_.stop || Clock::now() >= end_ || (options_.schedules != 0 && shared_.schedules >= options_.schedules);
  }

  // A third is new, a third changes what has come to something new, and a third lets another one die after it.
  Schedule choose() {
    const std::uint64_t seed = shared_.next_seed++;
    Dice dice(seed ^ 0x9a1d);
    if (!options_.guided || kept_.empty()) return draw_schedule(seed);
    const Kept& chosen = kept_[dice.below(kept_.size())];
    switch (dice.below(3)) {
      case 0:
        return draw_schedule(seed);
      case 1:
        return mutated(chosen.schedule, dice, seed);
      default:
        return continued(chosen, dice);
    }
  }

  // Of some places that were come to after the last event, the one that was seen least as the next one.
  Schedule continued(const Kept& chosen, Dice& dice) {
    constexpr int kCandidates = 8;
    constexpr std::size_t kMostEvents = 4;
    Schedule schedule = chosen.schedule;
    if (schedule.events.size() >= kMostEvents || chosen.passages.empty()) return mutated(schedule, dice, schedule.seed);
    const Passage* best = nullptr;
    std::uint32_t least = 0;
    for (int i = 0; i < kCandidates; ++i) {
      const Passage& passage = chosen.passages[dice.below(chosen.passages.size())];
      const std::uint32_t times = times_seen(shared_.coverage, chosen.last_point, passage.point);
      if (best != nullptr && times >= least) continue;
      best = &passage;
      least = times;
    }
    Event event;
    event.process = best->process;
    event.number = best->place + (dice.once_in(3) ? 0 : dice.below(dice.once_in(3) ? 40 : 8));
    schedule.events.push_back(event);
    return schedule;
  }

  void try_one(const Schedule& schedule) {
    const std::string text = text_of(schedule);
    std::strncpy(shared_.present[number_].data(), text.c_str(), kMostText - 1);
    const Outcome outcome = fenix_simulation::run(schedule);
    ++shared_.schedules;
    shared_.switches += outcome.switches;
    shared_.events += outcome.happened.size();
    shared_.restores += static_cast<std::uint64_t>(outcome.restores);
    const Novelty novelty = note(shared_.coverage, outcome);
    if (novelty.pairs + novelty.situations > 0 && !outcome.happened.empty()) keep(schedule, outcome);
    if (!outcome.verdict.is_good()) report(schedule, outcome.verdict, options_.folder);
    shared_.present[number_][0] = '\0';
  }

  void keep(const Schedule& schedule, const Outcome& outcome) {
    const Happened& last = outcome.happened.back();
    Kept kept{schedule,
              last.place.point,
              {outcome.passages.begin() + static_cast<std::ptrdiff_t>(last.passages), outcome.passages.end()}};
    if (kept_.size() < kMostKept) {
      kept_.push_back(std::move(kept));
    } else {
      kept_[next_kept_++ % kMostKept] = std::move(kept);
    }
  }

 public:
  void report(const Schedule& schedule, const Verdict& verdict, const std::string& folder) {
    const std::uint64_t number = ++shared_.failures;
    if (options_.until_failure) shared_.stop = true;
    const std::string text = text_of(schedule);
    const std::string name = folder + "/" + std::to_string(std::hash<std::string>()(text) & 0xffffffffffU) + ".txt";
    constexpr std::uint64_t kMostFiles = 200;
    if (number <= kMostFiles) std::ofstream(name) << "# " << verdict.promise << ": " << verdict.text << '\n' << text;
    std::printf("FAILED %s: %s\n  scripts/simulate --replay %s\n", verdict.promise.c_str(), verdict.text.c_str(),
                name.c_str());
    std::fflush(stdout);
  }

 private:
  Shared& shared_;
  const SearchOptions& options_;
  std::size_t number_;
  Clock::time_point end_;
  std::vector<Kept> kept_;
  std::size_t next_kept_ = 0;
};

pid_t start_searcher(Shared& shared, const SearchOptions& options, int number, Clock::time_point end) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  Searcher(shared, options, number, end).run();
  std::fflush(stdout);
  _exit(0);
}

// A searching process has crashed: so has the program that it simulated, or the simulator.
void report_crash(Shared& shared, const SearchOptions& options, int number, int status) {
  auto& text = shared.present[static_cast<std::size_t>(number)];
  if (text[0] == '\0') return;
  Searcher searcher(shared, options, number, {});
  searcher.report(schedule_in(text.data()), {"crash", "signal " + std::to_string(WTERMSIG(status))}, options.folder);
  ++shared.schedules;
  text[0] = '\0';
}

void print_summary(const Shared& shared, double seconds) {
  const Seen found = seen(shared.coverage);
  const auto schedules = static_cast<double>(std::max<std::uint64_t>(shared.schedules, 1));
  std::printf("%llu schedules in %.1f s, %.0f an hour, %.2f ms of processor time each; %llu failed\n",
              static_cast<unsigned long long>(shared.schedules), seconds, schedules / seconds * 3600,
              processor_seconds() / schedules * 1e3, static_cast<unsigned long long>(shared.failures));
  std::printf(
      "%.0f switches, %.2f events, %.2f restores in each; %zu points passed, events at %zu of them, %zu pairs, %zu "
      "situations\n",
      static_cast<double>(shared.switches) / schedules, static_cast<double>(shared.events) / schedules,
      static_cast<double>(shared.restores) / schedules, found.points, found.events, found.pairs, found.situations);
}

}  // namespace

std::uint64_t search(const SearchOptions& options) {
  Shared& shared = *make_shared_memory();
  shared.next_seed = options.first_seed;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<pid_t> searchers(static_cast<std::size_t>(options.jobs));
  for (int i = 0; i < options.jobs; ++i)
    searchers[static_cast<std::size_t>(i)] = start_searcher(shared, options, i, end);
  int running = options.jobs;
  while (running > 0) {
    int status = 0;
    const pid_t pid = wait(&status);
    const auto found = std::find(searchers.begin(), searchers.end(), pid);
    if (found == searchers.end()) continue;
    const auto number = static_cast<int>(found - searchers.begin());
    if (WIFSIGNALED(status)) report_crash(shared, options, number, status);
    const bool is_over =
        shared.stop || Clock::now() >= end || (options.schedules != 0 && shared.schedules >= options.schedules);
    if (is_over) {
      --running;
      *found = -1;
    } else {
      *found = start_searcher(shared, options, number, end);
    }
  }
  print_summary(shared, std::chrono::duration<double>(Clock::now() - begin).count());
  return shared.failures;
}

}  // namespace fenix_simulation
