// SPDX-License-Identifier: BSD-3-Clause
// Scenes: what has been found by reading, and what chance hardly ever draws.
#include "scenes.hpp"

#include <algorithm>
#include <array>

namespace fenix_simulation {
namespace {

/// A rank dies when another one maps its memory, and nobody knows of it for long.
void draw_late_mapping(Dice& dice, Schedule& schedule) {
  schedule.work.path = schedule.work.ranks_per_node = 0;
  schedule.surroundings.slow_notices = true;
  schedule.surroundings.uneven = 20;
  Event death;
  death.at = dice.between(0, schedule.work.ranks - 1);
  death.process = (death.at + schedule.work.ranks - 1) % schedule.work.ranks;
  death.when = Event::When::point;
  death.point = "peer.open";
  death.number = 1 + dice.below(10);
  schedule.events = {death};
}

/// A death in a commit with two tolerated losses, and that of a holder as soon as the others have begun to rebuild.
void draw_two_losses(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks = dice.between(4, 5);
  work.spares = dice.between(2, 3);
  work.warm = dice.once_in(5);
  work.path = work.ranks_per_node = work.deletions_of = 0;
  work.groups.resize(1);
  GroupPlan& group = work.groups.front();
  group.policy = Policy::reed_solomon;
  group.separation = 1;
  group.size = work.ranks;
  group.losses = 2;
  group.depth = 0;
  group.in_place = false;
  Event first;
  first.process = dice.between(0, work.ranks - 1);
  first.when = Event::When::point;
  first.point = "commit.sent";
  first.number = 1 + dice.below(static_cast<std::uint64_t>(work.steps));
  first.later = 2 + dice.below(4);
  constexpr std::array<const char*, 5> kPoints{"rejoin.voided", "rebuild.announced", "rebuild.share", "rebuild.shared",
                                               "rejoin.half_rebuilt"};
  Event second;
  second.process = (first.process + dice.between(1, 2)) % work.ranks;
  second.when = Event::When::point;
  second.point = kPoints[dice.below(kPoints.size())];
  second.later = dice.below(8);
  second.after = 0;
  schedule.events = {first, second};
}

/// A death in a commit in place, and another one before all have settled which commit counts.
void draw_unsettled(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.spares = std::max(work.spares, 2);
  constexpr std::array<const char*, 5> kFirst{"commit.sent", "commit.held", "commit.sealed", "commit.published",
                                              "commit.decided"};
  constexpr std::array<const char*, 6> kThen{"settle.begin",  "settle.agreed", "settle.sealed",
                                             "settle.copied", "settle.voided", "repair.done"};
  Event first;
  first.process = dice.between(0, work.ranks - 1);
  first.when = Event::When::point;
  first.point = kFirst[dice.below(kFirst.size())];
  first.number = 1 + dice.below(3);
  Event second;
  second.process = (first.process + dice.between(1, work.ranks - 1)) % work.ranks;
  second.when = Event::When::point;
  second.point = kThen[dice.below(kThen.size())];
  second.after = 0;
  schedule.events = {first, second};
}

/// A commit in place is cut short when it counts, and so is the repair in which its memory is taken over.
void draw_cut_adoption(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks = dice.between(4, 6);
  work.spares = dice.between(1, 3);
  work.warm = true;
  work.path = work.ranks_per_node = work.deletions_of = 0;
  work.groups.resize(1);
  GroupPlan& group = work.groups.front();
  group.policy = Policy::buddies;
  group.separation = 1;
  group.depth = 0;
  group.in_place = true;
  group.hashing = dice.once_in(4);
  constexpr std::array<const char*, 5> kPoints{"commit.held", "commit.sealed", "commit.published", "commit.decided",
                                               "commit.half_copied"};
  Event first;
  first.process = dice.between(0, work.ranks - 1);
  first.when = Event::When::point;
  first.point = kPoints[dice.below(kPoints.size())];
  first.number = 1 + dice.below(static_cast<std::uint64_t>(work.steps));
  Event second;
  second.process = (first.process + dice.between(1, work.ranks - 1)) % work.ranks;
  second.at = work.ranks;  // the first spare
  second.when = Event::When::point;
  second.point = dice.once_in(2) ? "memory.adopted" : "rejoin.memory";
  second.after = 0;
  schedule.events = {first, second};
}

/// Two deaths in commits in place, over a slow network: what the first one has written arrives late, or never.
void draw_late_records(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks = 4;
  work.spares = 2;
  work.steps = 4;
  work.deletions_of = work.ranks_per_node = 0;
  work.path = dice.between(1, 2);
  schedule.surroundings.slow_network = true;
  work.groups.resize(1);
  GroupPlan& group = work.groups.front();
  group.policy = dice.once_in(2) ? Policy::ring : Policy::buddies;
  group.separation = 1;
  group.depth = 0;
  group.in_place = true;
  constexpr std::array<const char*, 3> kFirst{"commit.held", "commit.sealed", "commit.published"};
  constexpr std::array<const char*, 7> kThen{"settle.copied", "settle.voided",  "rejoin.begin", "rejoin.greeted",
                                             "rejoin.memory", "rejoin.exposed", "rejoin.voided"};
  Event first;
  first.process = dice.between(0, 3);
  first.when = Event::When::point;
  first.point = kFirst[dice.below(kFirst.size())];
  first.number = 2 + dice.below(2);
  first.later = dice.below(8);
  Event second;
  second.process = (first.process + 2) % work.ranks;
  second.when = Event::When::point;
  second.point = kThen[dice.below(kThen.size())];
  second.after = 0;
  schedule.events = {first, second};
}

/// The seal of a dead rank arrives when all have recovered, and its replacement dies before it has written there.
void draw_late_seal(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.path = 1;
  work.ranks_per_node = 0;
  work.spares = std::max(work.spares, 2);
  GroupPlan& group = work.groups.front();
  group.policy = dice.once_in(2) ? Policy::ring : Policy::buddies;
  group.in_place = false;
  Event first;
  first.process = dice.between(0, work.ranks - 1);
  first.when = Event::When::point;
  first.point = "commit.sent";
  first.number = 1 + dice.below(3);
  first.later = 4 + dice.below(20);
  Event stop;
  stop.what = Event::What::stop;
  stop.process = work.ranks;  // the first spare
  stop.when = Event::When::point;
  stop.point = "store.begin";
  stop.later = 3'000'000;
  stop.after = 0;
  Event second = stop;
  second.what = Event::What::die;
  second.later = 1;
  second.after = 1;
  second.when = Event::When::place;
  second.number = 0;
  schedule.events = {first, stop, second};
}

/// A replacement without data dies before its first commit, and another one on its node takes its memory over.
void draw_empty_heir(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks = 4;
  work.ranks_per_node = 3;
  work.spares = dice.between(2, 3);
  work.path = work.deletions_of = work.verified_of = 0;
  work.warm = true;
  work.groups.resize(1);
  work.groups.front().policy = Policy::local;
  work.groups.front().in_place = false;
  Event first = draw_event(dice, work, -1);
  first.what = Event::What::die;
  first.process = dice.between(0, 2);
  Event second;
  second.process = work.ranks;
  second.when = Event::When::point;
  second.point = dice.once_in(2) ? "store.begin" : "commit.begin";
  second.after = 0;
  schedule.events = {first, second};
}

/// A rank alone on its node stops for long, and another one dies meanwhile.
void draw_silent_node(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks_per_node = 1;
  work.path = 0;
  Event stop = draw_stop(dice, work);
  stop.process = dice.between(0, work.ranks - 1);
  stop.later = 300'000'000'000;
  Event death;
  death.process = (stop.process + dice.between(1, work.ranks - 1)) % work.ranks;
  death.when = Event::When::place;
  death.number = dice.below(dice.once_in(2) ? 1 : 200);
  death.after = 0;
  schedule.events = {stop, death};
}

}  // namespace

Event draw_death_beside(Dice& dice, const Workload& work, const Event& flip) {
  Event death;
  death.process = (flip.process + dice.between(1, work.ranks - 1)) % work.ranks;
  death.number = dice.once_in(2) ? 0 : dice.below(static_cast<std::uint64_t>(1500 + 600 * work.steps));
  death.after = 0;
  return death;
}

Event draw_refusal(Dice& dice, const Workload& work) {
  Event event;
  event.what = Event::What::refuse;
  event.process = dice.between(0, work.ranks + work.spares - 1);
  event.when = Event::When::point;
  event.point = "repair.memory";
  return event;
}

bool draw_scene(Dice& dice, Schedule& schedule) {
  struct Scene {
    std::uint64_t one_in;
    void (*draw)(Dice&, Schedule&);
  };
  constexpr std::array<Scene, 7> kScenes{{{20, draw_two_losses},
                                          {24, draw_cut_adoption},
                                          {24, draw_late_records},
                                          {24, draw_late_mapping},
                                          {40, draw_late_seal},
                                          {40, draw_empty_heir},
                                          {40, draw_silent_node}}};
  if (schedule.work.groups.front().in_place && dice.once_in(3)) {
    draw_unsettled(dice, schedule);
    return true;
  }
  for (const Scene& scene : kScenes) {
    if (!dice.once_in(scene.one_in)) continue;
    scene.draw(dice, schedule);
    return true;
  }
  return false;
}

}  // namespace fenix_simulation
