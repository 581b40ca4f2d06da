// SPDX-License-Identifier: BSD-3-Clause
// Schedules from seeds.
#include <algorithm>
#include <array>
#include <string_view>

#include "draw_store.hpp"
#include "points_of_sources.hpp"
#include "scenes.hpp"
#include "schedule.hpp"

namespace fenix_simulation {
namespace {

bool has_stores_only = false;

GroupPlan draw_group(Dice& dice, int ranks) {
  GroupPlan group;
  group.policy = static_cast<Policy>(dice.below(4));
  group.separation = dice.between(1, std::max(ranks - 1, 1));
  group.size = dice.between(2, ranks);
  group.losses = dice.between(1, std::min(group.size - 1, 4));
  constexpr std::array kDepths{0, 0, 0, 1, 1, 2, 3, -1};
  group.depth = kDepths[dice.below(kDepths.size())];
  group.hashing = !dice.once_in(4);
  group.in_place = group.depth == 0 && dice.once_in(4);
  for (int members = dice.once_in(2) ? 1 : dice.between(1, 3); members > 0; --members) {
    constexpr std::array kCounts{1, 3, 3, 16, 16, 40, 40, 200, 200, 1100};
    group.members.push_back({kCounts[dice.below(kCounts.size())], dice.between(0, 5), dice.once_in(3)});
  }
  return group;
}

Workload draw_work(Dice& dice) {
  Workload work;
  work.seed = dice.below(~std::uint64_t{0});
  // Most bugs need little, and what is small is soon over.
  constexpr std::array kRanks{2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 7};
  work.ranks = kRanks[dice.below(kRanks.size())];
  constexpr std::array kSpares{0, 1, 1, 1, 2, 2, 3};
  work.spares = kSpares[dice.below(kSpares.size())];
  work.steps = dice.between(2, dice.once_in(3) ? 7 : 4);
  constexpr std::array kBarriers{1, 1, 2, 2, 4, 0};
  work.barrier_of = kBarriers[dice.below(kBarriers.size())];
  work.partial_of = dice.between(0, 3);
  work.skipped_of = dice.once_in(2) ? 6 : 0;
  work.deletions_of = dice.once_in(4) ? dice.between(1, 3) : 0;
  work.messages_of = dice.once_in(3) ? 2 : 0;
  work.verified_of = dice.once_in(3) ? 2 : 0;
  work.inspected_of = dice.once_in(4) ? 3 : 0;
  work.asynchronous = dice.once_in(4);
  work.releases = !dice.once_in(3);
  work.warm = !dice.once_in(3);
  work.path = dice.once_in(8) ? 1 : dice.once_in(5) ? 2 : 0;
  if (work.path == 0 && dice.once_in(5)) work.ranks_per_node = dice.once_in(3) ? work.ranks : dice.between(1, 3);
  for (int groups = dice.once_in(6) ? 2 : 1; groups > 0; --groups) work.groups.push_back(draw_group(dice, work.ranks));
  if (work.deletions_of == 0) return work;
  work.steps = dice.between(4, 9);
  if (dice.once_in(2)) work.inspected_of = 1;
  if (dice.once_in(2)) work.barrier_of = 0;
  // The only snapshot is never deleted, and several in a row need more.
  for (GroupPlan& group : work.groups) {
    group.in_place = false;
    if (group.depth == 0 || group.depth == 1) group.depth = dice.between(dice.once_in(4) ? 1 : 2, 3);
  }
  return work;
}

Surroundings draw_surroundings(Dice& dice) {
  Surroundings surroundings;
  constexpr std::array<std::uint64_t, 8> kYields{1, 4, 4, 16, 16, 32, 64, 128};
  surroundings.yields = kYields[dice.below(kYields.size())];
  constexpr std::array<std::uint64_t, 4> kStalls{0, 100, 1000, 5000};
  surroundings.stalls = kStalls[dice.below(kStalls.size())];
  surroundings.late_notices = dice.once_in(2);
  surroundings.slow_notices = dice.once_in(16);
  surroundings.slow_network = dice.once_in(16);
  surroundings.rendezvous = dice.once_in(2);
  surroundings.uneven = dice.once_in(4) ? 20 : 1;
  surroundings.basic_keys = dice.once_in(2);
  surroundings.open_mpi = dice.once_in(2);
  return surroundings;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.starts_with(word); });
}

/// Whether processes can come to a point in this work.
bool can_be_reached(std::string_view point, const Workload& work) {
  const auto some_group = [&](const auto& is_so) { return std::any_of(work.groups.begin(), work.groups.end(), is_so); };
  if (starts_with_any(point, {"barrier.", "store.staged"})) return false;
  if (point.starts_with("delete.")) return work.deletions_of > 0;
  if (point.starts_with("istore.")) return work.asynchronous;
  if (point.starts_with("spare.")) return work.spares > 0;
  if (point == "memory.adopted") return work.warm;
  if (point.starts_with("grow.")) return some_group([](const GroupPlan& group) { return group.depth < 0; });
  if (starts_with_any(point, {"encode.", "rebuild."})) {
    return some_group([](const GroupPlan& group) {
      return group.policy == Policy::exclusive_or || group.policy == Policy::reed_solomon;
    });
  }
  if (starts_with_any(point, {"settle.", "commit.decided", "commit.half_copied", "commit.copied"})) {
    return some_group([](const GroupPlan& group) { return group.in_place; });
  }
  return true;
}

enum class Part : std::uint8_t { work, commits, recovery };

bool is_of(Part part, std::string_view point) {
  switch (part) {
    case Part::work:
      return starts_with_any(point, {"commit.", "store.", "encode.", "restore.", "init.", "delete.", "istore.", "grow.",
                                     "spare.", "member."});
    case Part::commits:
      return starts_with_any(point, {"commit.", "encode."});
    case Part::recovery:
      return starts_with_any(point, {"rejoin.", "repair.", "rebuild.", "memory.adopted", "settle.", "finish."});
  }
  return false;
}

std::string draw_point(Dice& dice, const Workload& work, Part part) {
  std::vector<std::string_view> points;
  for (const std::string_view point : kPointsOfSources) {
    if (is_of(part, point) && can_be_reached(point, work)) points.push_back(point);
  }
  return std::string(points[dice.below(points.size())]);
}

/// A step of a rank on which others may rely, or with which they begin anew.
Event draw_pass(Dice& dice, const Workload& work) {
  constexpr std::array<const char*, 7> kPoints{"commit.on_all",  "commit.published", "restore.done", "finish.met",
                                               "rejoin.resumed", "rejoin.end",       "repair.done"};
  Event event;
  event.what = Event::What::pass;
  event.process = dice.between(0, work.ranks - 1);
  event.when = Event::When::point;
  event.point = kPoints[dice.below(kPoints.size())];
  event.number = 1 + dice.below(dice.once_in(2) ? 2 : 5);
  return event;
}

}  // namespace

Event draw_event(Dice& dice, const Workload& work, int after) {
  Event event;
  event.after = after;
  if (work.ranks_per_node > 0 && dice.once_in(4)) event.what = Event::What::node_dies;
  event.process = dice.between(0, work.ranks + (dice.once_in(4) ? work.spares : 0) - 1);
  if (dice.once_in(3)) {
    event.when = Event::When::place;
    event.number = dice.below(dice.once_in(2) ? 400 : static_cast<std::uint64_t>(1500 + 600 * work.steps));
    if (after >= 0 && dice.once_in(3)) event.number = 0;
    return event;
  }
  event.when = Event::When::point;
  const bool in_recovery = after >= 0 ? !dice.once_in(4) : dice.once_in(8);
  event.point = draw_point(dice, work, in_recovery ? Part::recovery : dice.once_in(3) ? Part::commits : Part::work);
  event.number = 1 + dice.below(dice.once_in(2) ? 2 : 6);
  event.later = dice.once_in(3) ? 0 : dice.below(dice.once_in(3) ? 40 : 8);
  return event;
}

Event draw_stop(Dice& dice, const Workload& work) {
  constexpr std::array<std::uint64_t, 4> kTimes{3'000'000, 300'000'000, 5'000'000'000, 300'000'000'000};
  Event event = draw_event(dice, work, -1);
  event.what = Event::What::stop;
  event.when = dice.once_in(2) ? Event::When::place : Event::When::time;
  event.number = dice.below(event.when == Event::When::place ? 3000 : 100'000'000);
  event.later = kTimes[dice.below(kTimes.size())];
  return event;
}

/// Damage to one place, and nothing else.
Event draw_flip(Dice& dice, const Workload& work) {
  constexpr std::array<const char*, 8> kPoints{"corrupt.held",   "corrupt.held_record", "corrupt.held_table",
                                               "corrupt.own",    "corrupt.parity",      "corrupt.record",
                                               "corrupt.record", "corrupt.table"};
  Event event;
  event.what = Event::What::flip;
  event.process = dice.between(0, work.ranks - 1);
  event.when = Event::When::point;
  event.point = kPoints[dice.below(kPoints.size())];
  event.number = 1 + dice.below(6);
  return event;
}

void draw_stores_only() { has_stores_only = true; }

Schedule draw_schedule(std::uint64_t seed) {
  Dice dice(seed ^ 0x5eed);
  Schedule schedule;
  schedule.seed = seed;
  schedule.work = draw_work(dice);
  schedule.surroundings = draw_surroundings(dice);
  if (dice.once_in(12)) {
    schedule.work.inspected_of = 1;
    schedule.work.barrier_of = 1;
    for (GroupPlan& group : schedule.work.groups) group.hashing = true;
    const Event flip = draw_flip(dice, schedule.work);
    schedule.events.push_back(flip);
    if (flip.point == "corrupt.record" && dice.once_in(2))
      schedule.events.push_back(draw_death_beside(dice, schedule.work, flip));
    return schedule;
  }
  if (has_stores_only || dice.once_in(5)) {
    draw_store(dice, schedule);
    return schedule;
  }
  if (draw_scene(dice, schedule)) return schedule;
  if (dice.once_in(10)) schedule.events.push_back(draw_stop(dice, schedule.work));
  if (dice.once_in(6)) schedule.events.push_back(draw_pass(dice, schedule.work));
  constexpr std::array kDeaths{0, 1, 1, 1, 1, 2, 2, 2, 2, 3};
  for (int deaths = kDeaths[dice.below(kDeaths.size())]; deaths > 0; --deaths) {
    const bool follows = !schedule.events.empty() && !dice.once_in(4);
    schedule.events.push_back(
        draw_event(dice, schedule.work, follows ? static_cast<int>(schedule.events.size()) - 1 : -1));
  }
  if (!schedule.events.empty() && dice.once_in(12)) schedule.events.push_back(draw_refusal(dice, schedule.work));
  return schedule;
}

}  // namespace fenix_simulation
