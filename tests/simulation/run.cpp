// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include "court.hpp"
#include "disk.hpp"
#include "fabric.hpp"
#include "jobs.hpp"
#include "memory.hpp"
#include "mpi/state.hpp"
#include "points.hpp"

namespace fenix_simulation {
namespace {

void fill(Outcome& outcome, World& world) {
  outcome.verdict = world.verdict();
  outcome.hash = world.scheduler().hash();
  outcome.switches = world.scheduler().switches();
  outcome.time = world.now();
  outcome.happened = world.happened();
  outcome.passages = world.passages();
  outcome.lines = world.lines();
}

}  // namespace

Outcome run(const Schedule& schedule, bool traces) {
  Outcome outcome;
  forget_files();
  begin_disks();
  begin_network();
  Choices choices(schedule.seed);
  choices.edit(schedule.edits);
  {
    Court court(schedule.work);
    World world(image_of_program(), choices, schedule.surroundings, schedule.events, traces);
    world.on_death(mpi::note_death);
    world.on_death([&](Process& dead) { court.ledger.died(dead.number); });
    world.on_damage([&](const Process& process) {
      if (!court.ledger.flipped(process.number, name_of_point(process.place.point)))
        world.give_up("damage of which nothing is promised");
    });
    world.allow_own_ends_after(static_cast<Time>(schedule.work.timeout) * 4'000'000'000);
    Jobs jobs(world, court, schedule, traces);
    jobs.start_first();
    world.run();
    jobs.look_at_end();
    fill(outcome, world);
    outcome.restores = court.ledger.restores();
    outcome.done = court.done;
    image_of_program().forget();
  }
  end_network();
  end_disks();
  forget_files();
  return outcome;
}

}  // namespace fenix_simulation
