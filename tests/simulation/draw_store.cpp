// SPDX-License-Identifier: BSD-3-Clause
#include "draw_store.hpp"

#include <algorithm>
#include <array>

#include "spawn.hpp"

namespace fenix_simulation {
namespace {

void draw_work(Dice& dice, Workload& work) {
  constexpr std::array kJobs{1, 2, 2, 2, 2, 3};
  work.jobs = kJobs[dice.below(kJobs.size())];
  work.deletions_of = 0;
  work.steps = std::min(work.steps, 4);
  constexpr std::array kFlushes{0, 1, 1, 2, 3};
  work.flush_of = kFlushes[dice.below(kFlushes.size())];
  constexpr std::array kNamed{0, 0, 1, 2, 3};
  work.named_of = kNamed[dice.below(kNamed.size())];
  work.asked_of = dice.once_in(3) ? 0 : dice.between(1, 2);
  if (work.named_of > 0 && dice.once_in(3)) work.fetched_of = dice.between(1, 3);
  constexpr std::array kLeases{0, 0, 0, 2, 30};
  work.lease = kLeases[dice.below(kLeases.size())];
  work.kept = dice.once_in(3) ? dice.between(1, 2) : 0;
  constexpr std::array kPauses{0, 0, 1, 20, 1500, 5000};
  work.pause = kPauses[dice.below(kPauses.size())];
  constexpr std::array kTimes{60, 60, 5, 2};
  work.flush_timeout = kTimes[dice.below(kTimes.size())];
  if (dice.once_in(4)) work.later_ranks = dice.between(2, 6);
  // Two nodes have two keepers, which share a dataset.
  if (work.path == 0 && dice.once_in(2)) work.ranks_per_node = dice.between(1, std::max(work.ranks - 1, 1));
}

constexpr std::array<const char*, 12> kPointsOfRanks{
    "commit.begin", "commit.sent",     "commit.sealed", "commit.on_all", "flush.offered", "flush.waited",
    "keep.offered", "keep.taken_over", "fetch.begin",   "fetch.met",     "fetch.staged",  "fetch.committed"};
constexpr std::array<const char*, 10> kPointsOfKeepers{
    "flush.begin",    "flush.piece", "flush.planned", "flush.data_synced", "flush.part_renamed",
    "flush.manifest", "fetch.found", "fetch.rank",    "fetch.read",        "flush.piece"};

template <class List>
std::string one_of(Dice& dice, const List& list) {
  return list[dice.below(list.size())];
}

Event draw_end(Dice& dice, const Workload& work, int job, int after) {
  Event event;
  event.after = after;
  constexpr std::array kEnds{Event::What::job_dies, Event::What::job_dies, Event::What::job_dies,
                             Event::What::power_fails, Event::What::node_dies};
  event.what = kEnds[dice.below(kEnds.size())];
  event.process = job * kNumbersOfJob + dice.between(0, work.ranks_of(job) - 1);
  if (dice.once_in(2)) {
    event.when = Event::When::point;
    event.point = one_of(dice, kPointsOfRanks);
    event.number = 1 + dice.below(3);
    event.later = dice.below(dice.once_in(3) ? 40 : 8);
  } else {
    event.number = dice.below(dice.once_in(2) ? 1000 : 6000);
  }
  // As seen from a keeper, which may be in the middle of its work.
  if (dice.once_in(3)) {
    event.at = kFirstKeeper + dice.between(0, 1 + job);
    event.when = Event::When::point;
    event.point = one_of(dice, kPointsOfKeepers);
    event.number = 1 + dice.below(4);
    event.later = dice.below(dice.once_in(3) ? 60 : 12);
  }
  return event;
}

Event draw_keeper(Dice& dice, int after) {
  constexpr std::array<std::uint64_t, 4> kTimes{3'000'000, 300'000'000, 3'000'000'000, 12'000'000'000};
  Event event;
  event.after = after;
  event.process = kFirstKeeper + dice.between(0, 2);
  if (dice.once_in(4)) {
    event.what = Event::What::stop;
    event.later = kTimes[dice.below(kTimes.size())];
  }
  if (dice.once_in(3)) {
    event.number = dice.below(2000);
    return event;
  }
  event.when = Event::When::point;
  event.point = one_of(dice, kPointsOfKeepers);
  event.number = 1 + dice.below(4);
  if (event.what != Event::What::stop) event.later = dice.below(dice.once_in(3) ? 60 : 12);
  return event;
}

// Waits of minutes would be billions of looks of all ranks.
void draw_disk(Dice& dice, Workload& work, Surroundings& around) {
  constexpr std::array<std::uint64_t, 3> kOneOf{10, 40, 200};
  if (dice.once_in(5)) around.disk_errors = kOneOf[dice.below(kOneOf.size())];
  if (!dice.once_in(10)) return;
  around.disk_hangs = kOneOf[dice.below(kOneOf.size())];
  work.flush_timeout = dice.between(1, 5);
}

/// A rank of a later job dies when the groups are made, and what is in the store is looked for.
Event draw_death_at_start(Dice& dice, const Workload& work, int job) {
  constexpr std::array<const char*, 13> kPoints{
      "rejoin.begin",   "rejoin.greeted", "region.descriptor", "rejoin.memory", "rejoin.exposed",
      "rejoin.resumed", "rejoin.end",     "fetch.begin",       "fetch.met",     "fetch.resumed",
      "fetch.staged",   "fetch.member",   "fetch.committed"};
  Event event;
  event.process = job * kNumbersOfJob + dice.between(0, work.ranks_of(job) - 1);
  event.when = Event::When::point;
  event.point = one_of(dice, kPoints);
  event.later = dice.below(dice.once_in(3) ? 40 : 4);
  return event;
}

/// Keepers die one after the other, while one rank is too slow to offer anything.
void draw_fragile_keepers(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.ranks_per_node = work.path = work.named_of = 0;
  work.flush_of = 1;
  work.steps = 4;
  work.flush_timeout = 60;
  schedule.surroundings.disk_errors = schedule.surroundings.disk_hangs = 0;
  Event stop;
  stop.what = Event::What::stop;
  stop.process = dice.between(0, work.ranks - 1);
  stop.when = Event::When::point;
  stop.point = "commit.published";
  stop.number = 1 + dice.below(3);
  stop.later = 100'000'000;
  schedule.events = {stop};
  for (int keeper = 0; keeper < 3; ++keeper) {
    Event death;
    death.process = kFirstKeeper + keeper;
    death.number = dice.below(60);
    death.after = 0;
    schedule.events.push_back(death);
  }
}

/// A node goes with its memory, and the rest of the job with it. Nothing protects what was there.
void draw_half_kept(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.path = work.later_ranks = 0;
  work.jobs = 2;
  work.lease = 30;
  work.pause = 20;
  work.ranks_per_node = dice.between(1, std::max(work.ranks - 1, 1));
  work.groups.resize(1);
  work.groups.front().policy = Policy::local;
  work.groups.front().in_place = false;
  schedule.surroundings.disk_errors = schedule.surroundings.disk_hangs = 0;
  Event first;
  first.what = dice.once_in(2) ? Event::What::node_dies : Event::What::die;
  first.process = first.what == Event::What::die ? kFirstKeeper + dice.between(0, 1) : work.ranks - 1;
  first.number = dice.below(3000);
  first.at = 0;
  Event second;
  second.what = Event::What::job_dies;
  second.process = 0;
  second.after = 0;
  second.number = dice.below(20);
  schedule.events = {first, second};
}

/// Memory is taken over by windows, which stay mapped, and the attempt is cut short.
void draw_cut_take_over(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.path = dice.once_in(4) ? 0 : 1;
  work.ranks_per_node = work.later_ranks = 0;
  work.jobs = 2;
  work.lease = 30;
  work.pause = 20;
  work.spares = std::max(work.spares, 1);
  for (GroupPlan& group : work.groups) group.in_place = false;
  schedule.surroundings.disk_errors = schedule.surroundings.disk_hangs = 0;
  Event end = draw_end(dice, work, 0, -1);
  end.what = Event::What::job_dies;
  end.at = -1;
  constexpr std::array<const char*, 6> kPoints{"rejoin.memory",  "rejoin.exposed", "rejoin.voided",
                                               "rejoin.resumed", "region.reserve", "rejoin.end"};
  Event death;
  death.process = kNumbersOfJob + dice.between(0, work.ranks - 1);
  death.when = Event::When::point;
  death.point = one_of(dice, kPoints);
  death.later = dice.below(6);
  schedule.events = {end, death};
}

/// The program goes back to an older dataset, and the job ends soon after.
void draw_going_back(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  work.jobs = dice.between(2, 3);
  work.steps = dice.between(2, 3);
  work.named_of = 1;
  work.fetched_of = dice.between(1, 2);
  work.later_ranks = work.kept = 0;
  work.lease = dice.once_in(3) ? 30 : 0;
  schedule.surroundings.disk_errors = schedule.surroundings.disk_hangs = 0;
  Event end = draw_end(dice, work, 0, -1);
  end.at = -1;
  end.when = Event::When::point;
  end.point = dice.once_in(2) ? "flush.waited" : "commit.begin";
  end.number = 2 + dice.below(4);
  end.later = dice.below(12);
  schedule.events = {end};
}

}  // namespace

Event draw_store_event(Dice& dice, const Workload& work, int after) {
  const int job = dice.between(0, work.jobs - 1);
  if (dice.once_in(4)) return draw_end(dice, work, job, after);
  if (dice.once_in(3)) return draw_keeper(dice, after);
  Event event = draw_event(dice, work, after);
  event.process = job * kNumbersOfJob + event.process;
  return event;
}

void draw_store(Dice& dice, Schedule& schedule) {
  Workload& work = schedule.work;
  draw_work(dice, work);
  draw_disk(dice, work, schedule.surroundings);
  if (dice.once_in(12)) return draw_fragile_keepers(dice, schedule);
  if (dice.once_in(12)) return draw_half_kept(dice, schedule);
  if (dice.once_in(12)) return draw_going_back(dice, schedule);
  if (dice.once_in(12)) return draw_cut_take_over(dice, schedule);
  auto& events = schedule.events;
  const auto last = [&] { return dice.once_in(2) ? -1 : static_cast<int>(events.size()) - 1; };
  if (dice.once_in(3)) events.push_back(draw_store_event(dice, work, -1));
  if (dice.once_in(3)) events.push_back(draw_keeper(dice, last()));
  for (int job = 0; job < work.jobs; ++job) {
    if (job > 0 && dice.once_in(4)) events.push_back(draw_death_at_start(dice, work, job));
    if (job + 1 < work.jobs ? !dice.once_in(6) : dice.once_in(3)) events.push_back(draw_end(dice, work, job, -1));
  }
}

}  // namespace fenix_simulation
