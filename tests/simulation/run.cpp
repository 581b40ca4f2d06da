// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>

#include "court.hpp"
#include "fabric.hpp"
#include "memory.hpp"
#include "mpi/state.hpp"
#include "points.hpp"

extern "C" void fenix_simulated_program();

namespace fenix_simulation {
namespace {

std::map<std::string, std::string> environment_of(const Schedule& schedule, bool traces) {
  const Workload& work = schedule.work;
  // Bytes that a flip may damage are offered only then.
  const bool flips = std::any_of(schedule.events.begin(), schedule.events.end(),
                                 [](const Event& each) { return each.what == Event::What::flip; });
  std::map<std::string, std::string> variables{{"FENIX_TIMEOUT", std::to_string(work.timeout)},
                                               {"FENIX_SIMD", "scalar"},
                                               {"FENIX_LOG", traces ? "info" : "off"},
                                               {"FENIX_PATH", work.path == 0   ? "auto"
                                                              : work.path == 1 ? "window"
                                                                               : "fabric"},
                                               {"FENIX_WARM_REPLACEMENT", work.warm ? "on" : "off"},
                                               {"PRTE_LAUNCHED", "1"}};
  if (flips) variables["FENIX_FAULT"] = "corrupt.own:0:1000000:flip";
  return variables;
}

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
    std::vector<Process*> processes;
    const int nodes = schedule.work.ranks_per_node;
    for (int i = 0; i < schedule.work.ranks + schedule.work.spares; ++i) {
      processes.push_back(&world.start(nodes == 0 ? 0 : i / nodes, [] { fenix_simulated_program(); }));
      processes.back()->environment = environment_of(schedule, traces);
    }
    mpi::begin_world(processes);
    world.run();
    fill(outcome, world);
    outcome.restores = court.ledger.restores();
    outcome.done = court.done;
    image_of_program().forget();
  }
  end_network();
  forget_files();
  return outcome;
}

}  // namespace fenix_simulation
