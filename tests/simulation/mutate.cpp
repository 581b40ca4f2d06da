// SPDX-License-Identifier: BSD-3-Clause
#include "mutate.hpp"

#include <algorithm>

#include "draw_store.hpp"
#include "spawn.hpp"

namespace fenix_simulation {
namespace {

constexpr std::size_t kMostEvents = 4;

Event draw_any(Dice& dice, const Workload& work, int after) {
  return work.has_store() ? draw_store_event(dice, work, after) : draw_event(dice, work, after);
}

void change_event(Event& event, Dice& dice, const Workload& work) {
  switch (dice.below(5)) {
    case 0:
      event.later += dice.below(2) == 0 ? dice.below(4) : dice.below(30);
      break;
    case 1:
      event.later -= std::min(event.later, 1 + dice.below(6));
      break;
    case 2:
      event.number = std::max<std::uint64_t>(1, event.number + dice.below(3) - (event.number > 1 ? 1 : 0));
      break;
    case 3:
      event.process = event.process / kNumbersOfJob * kNumbersOfJob + dice.between(0, work.ranks + work.spares - 1);
      break;
    default:
      event = draw_any(dice, work, event.after);
      break;
  }
}

void change_surroundings(Surroundings& surroundings, Dice& dice) {
  switch (dice.below(4)) {
    case 0:
      surroundings.yields = std::uint64_t{1} << dice.below(8);
      break;
    case 1:
      surroundings.late_notices = !surroundings.late_notices;
      break;
    case 2:
      surroundings.uneven = surroundings.uneven == 1 ? 20 : 1;
      break;
    default:
      surroundings.stalls = dice.below(2) == 0 ? 0 : 1000;
      break;
  }
}

}  // namespace

Schedule mutated(const Schedule& schedule, Dice& dice, std::uint64_t seed) {
  Schedule changed = schedule;
  const std::uint64_t what = dice.below(8);
  auto& events = changed.events;
  if (what <= 3 && events.size() < kMostEvents) {
    // Another death after the last one is the commonest way to something that nobody has thought of.
    events.push_back(draw_any(dice, changed.work, static_cast<int>(events.size()) - 1));
  } else if (what <= 5 && !events.empty()) {
    change_event(events[dice.below(events.size())], dice, changed.work);
  } else if (what == 6) {
    change_surroundings(changed.surroundings, dice);
  } else {
    changed.seed = seed;
  }
  return changed;
}

}  // namespace fenix_simulation
