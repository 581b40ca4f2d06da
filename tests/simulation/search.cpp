// SPDX-License-Identifier: BSD-3-Clause
#include "search.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "coverage.hpp"
#include "isolated.hpp"
#include "mutate.hpp"

namespace fenix_simulation {
namespace {

using Clock = std::chrono::steady_clock;

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
  Searcher(Shared& shared, const SearchOptions& options, Clock::time_point end)
      : shared_(shared), options_(options), end_(end) {}

  void run() {
    while (!is_over()) try_one(choose());
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
    const Outcome outcome = run_isolated(schedule);
    ++shared_.schedules;
    shared_.switches += outcome.switches;
    shared_.events += outcome.happened.size();
    shared_.restores += static_cast<std::uint64_t>(outcome.restores);
    const Novelty novelty = note(shared_.coverage, outcome);
    if (novelty.pairs + novelty.situations > 0 && !outcome.happened.empty()) keep(schedule, outcome);
    if (!outcome.verdict.is_good()) report(schedule, outcome.verdict);
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

  void report(const Schedule& schedule, const Verdict& verdict) {
    const std::uint64_t number = ++shared_.failures;
    if (options_.until_failure) shared_.stop = true;
    const std::string text = text_of(schedule);
    const std::string name =
        options_.folder + "/" + std::to_string(std::hash<std::string>()(text) & 0xffffffffffU) + ".txt";
    constexpr std::uint64_t kMostFiles = 200;
    if (number <= kMostFiles) std::ofstream(name) << "# " << verdict.promise << ": " << verdict.text << '\n' << text;
    std::printf("FAILED %s: %s\n  scripts/simulate --replay %s\n", verdict.promise.c_str(), verdict.text.c_str(),
                name.c_str());
    std::fflush(stdout);
  }

  Shared& shared_;
  const SearchOptions& options_;
  Clock::time_point end_;
  std::vector<Kept> kept_;
  std::size_t next_kept_ = 0;
};

void start_searcher(Shared& shared, const SearchOptions& options, Clock::time_point end) {
  std::fflush(stdout);
  if (fork() != 0) return;
  Searcher(shared, options, end).run();
  std::fflush(stdout);
  _exit(0);
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
  for (int i = 0; i < options.jobs; ++i) start_searcher(shared, options, end);
  for (int status = 0; wait(&status) > 0;) {
    if (status == 0) continue;
    std::printf("a searching process has crashed\n");
    ++shared.failures;
  }
  if (options.lists_points) {
    for (const std::string& point : never_passed(shared.coverage)) std::printf("never passed: %s\n", point.c_str());
  }
  print_summary(shared, std::chrono::duration<double>(Clock::now() - begin).count());
  return shared.failures;
}

}  // namespace fenix_simulation
