// SPDX-License-Identifier: BSD-3-Clause
#include "shrink.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "isolated.hpp"
#include "points.hpp"

namespace fenix_simulation {
namespace {

constexpr int kMostRuns = 1500;

class Shrinker {
 public:
  explicit Shrinker(const Schedule& schedule)
      : best_(schedule), outcome_(run_isolated(schedule)), first_(outcome_.verdict) {}

  Schedule run() {
    if (first_.promise.empty()) return best_;
    name_places();
    for (bool changed = true; changed && runs_ < kMostRuns;) {
      changed = drop_events() | shrink_work() | calm_surroundings() | shrink_events();
    }
    calm_choices();
    std::fprintf(stderr, "shrunk in %d runs; %s: %s\n", runs_, first_.promise.c_str(), first_.text.c_str());
    return best_;
  }

 private:
  bool try_change(const std::function<void(Schedule&)>& change) {
    Schedule other = best_;
    change(other);
    if (other == best_ || runs_ >= kMostRuns) return false;
    ++runs_;
    if (run_isolated(other).verdict.promise != first_.promise) return false;
    best_ = other;
    return true;
  }

  // A place by its number means nothing any more when a schedule does less before it.
  void name_places() {
    for (const Happened& happened : outcome_.happened) {
      if (best_.events[happened.event].when == Event::When::point || happened.place.point < 0) continue;
      try_change([&](Schedule& schedule) {
        Event& event = schedule.events[happened.event];
        if (event.what == Event::What::stop) return;
        event.when = Event::When::point;
        event.point = name_of_point(happened.place.point);
        event.number = happened.place.pass;
        event.later = happened.place.after;
      });
    }
  }

  bool drop_events() {
    bool changed = false;
    for (std::size_t i = best_.events.size(); i-- > 0;) {
      changed |= try_change([&](Schedule& schedule) {
        const Event dropped = schedule.events[i];
        schedule.events.erase(schedule.events.begin() + static_cast<std::ptrdiff_t>(i));
        for (Event& each : schedule.events) {
          if (each.after == static_cast<int>(i)) each.after = dropped.after;
          if (each.after > static_cast<int>(i)) --each.after;
        }
      });
    }
    return changed;
  }

  bool shrink_work() {
    bool changed = false;
    const auto lower = [&](int Workload::*field, int least) {
      while (best_.work.*field > least && try_change([&](Schedule& schedule) { --(schedule.work.*field); }))
        changed = true;
    };
    const auto off = [&](auto Workload::*field) {
      changed |= try_change([&](Schedule& schedule) { schedule.work.*field = {}; });
    };
    off(&Workload::deletions_of);
    off(&Workload::messages_of);
    off(&Workload::verified_of);
    off(&Workload::inspected_of);
    off(&Workload::partial_of);
    off(&Workload::skipped_of);
    off(&Workload::asynchronous);
    off(&Workload::ranks_per_node);
    off(&Workload::path);
    off(&Workload::later_ranks);
    off(&Workload::pause);
    off(&Workload::flush_of);
    off(&Workload::named_of);
    off(&Workload::asked_of);
    off(&Workload::fetched_of);
    off(&Workload::lease);
    off(&Workload::kept);
    lower(&Workload::jobs, 0);
    lower(&Workload::steps, 1);
    lower(&Workload::spares, 0);
    lower(&Workload::ranks, 2);
    for (std::size_t group = best_.work.groups.size(); group-- > 0;) {
      changed |= best_.work.groups.size() > 1 && try_change([&](Schedule& schedule) {
                   schedule.work.groups.erase(schedule.work.groups.begin() + static_cast<std::ptrdiff_t>(group));
                 });
    }
    for (std::size_t group = 0; group < best_.work.groups.size(); ++group) changed |= shrink_group(group);
    return changed;
  }

  bool shrink_group(std::size_t group) {
    bool changed = false;
    const auto members = [&](Schedule & schedule) -> auto& { return schedule.work.groups[group].members; };
    for (std::size_t i = members(best_).size(); i-- > 0;) {
      changed |= try_change([&](Schedule& schedule) {
        members(schedule).erase(members(schedule).begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
    for (std::size_t i = 0; i < members(best_).size(); ++i) {
      changed |= try_change([&](Schedule& schedule) { members(schedule)[i] = {1, 0, false}; });
    }
    changed |= best_.work.groups[group].depth != 0 &&
               try_change([&](Schedule& schedule) { schedule.work.groups[group].depth = 0; });
    return changed;
  }

  bool calm_surroundings() {
    bool changed = false;
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.stalls = 0; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.late_notices = false; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.slow_notices = false; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.slow_network = false; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.rendezvous = false; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.uneven = 1; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.open_mpi = false; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.disk_errors = 0; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.disk_hangs = 0; });
    changed |= try_change([](Schedule& schedule) { schedule.surroundings.yields = 128; });
    return changed;
  }

  bool shrink_events() {
    bool changed = false;
    for (std::size_t i = 0; i < best_.events.size(); ++i) {
      while (try_change([&](Schedule& schedule) { schedule.events[i].later /= 2; })) changed = true;
    }
    return changed;
  }

  void calm_choices() {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      try_change([&](Schedule& schedule) {
        schedule.edits.push_back({static_cast<Kind>(kind), Edit::kAll, 0, ~std::uint64_t{0}, 0});
      });
    }
  }

  Schedule best_;
  Outcome outcome_;
  Verdict first_;
  int runs_ = 0;
};

}  // namespace

Schedule shrunk(const Schedule& schedule) { return Shrinker(schedule).run(); }

}  // namespace fenix_simulation
