// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/world_builder.hpp"

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "recovery/process/comm_functions.hpp"

namespace fenix_impl {

void WorldBuilder::build(MPI_Comm living, NewWorld& made, Occasion occasion) {
  const int rank = rank_in(living);
  const Seating& seating = members_.seating();
  if (occasion == Occasion::repair && fault_fails("repair.memory")) throw Error(out_of_memory());
  made.seats = seating.seats_in(living);
  if (occasion == Occasion::repair) members_.tell_slots(living);
  members_.watch_living(living, made.seats);
  if (occasion == Occasion::start) fault_point("init.watched");
  RepairPlan& plan = made.plan;
  plan = plan_repair(seating.active, seating.spares, made.seats);

  const auto found = std::find(plan.active.begin(), plan.active.end(), rank);
  const bool active = found != plan.active.end();
  const auto key = active ? found - plan.active.begin()
                          : static_cast<std::ptrdiff_t>(plan.active.size()) +
                                (std::find(plan.spares.begin(), plan.spares.end(), rank) - plan.spares.begin());
  // Where nobody changes its place, the living are the world already. All messages on it have arrived.
  made.world = keeps_order(plan) ? living : split(living, 0, static_cast<int>(key));
  MPI_Comm_set_errhandler(made.world, MPI_ERRORS_RETURN);
  if (occasion == Occasion::repair) fault_point("repair.world");
  // Not of the new world: a rank that has failed to get that one could not end the waits of others here.
  made.resilient = split(living, active ? 0 : MPI_UNDEFINED, static_cast<int>(key));
}

void WorldBuilder::adopt(const NewWorld& made, Occasion occasion) {
  members_.adopt(made.plan, made.seats, made.world);
  meetings_.clear();
  if (occasion == Occasion::start) {
    comms_.adopt_first(made.world, made.resilient);
  } else {
    comms_.adopt_repaired(made.world, made.resilient);
  }
}

}  // namespace fenix_impl
