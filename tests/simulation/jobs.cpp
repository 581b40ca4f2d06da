// SPDX-License-Identifier: BSD-3-Clause
#include "jobs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "disk.hpp"
#include "mpi/state.hpp"
#include "spawn.hpp"

extern "C" void fenix_simulated_program();

namespace fenix_simulation {
namespace {

using Variables = std::map<std::string, std::string>;

void add_store(const Workload& work, Variables& variables) {
  variables["FENIX_STORE"] = "/store/run";
  variables["FENIX_KEEPER"] = "/simulated/fenix-keeper";
  variables["FENIX_FLUSH"] = std::to_string(work.flush_of);
  variables["FENIX_KEEP"] = std::to_string(work.lease);
  variables["FENIX_STORE_KEEP"] = std::to_string(work.kept);
  variables["FENIX_FLUSH_TIMEOUT"] = std::to_string(work.flush_timeout);
}

Variables environment_of(const Schedule& schedule, bool traces) {
  const Workload& work = schedule.work;
  // Bytes that a flip may damage are offered only then.
  const bool flips = std::any_of(schedule.events.begin(), schedule.events.end(),
                                 [](const Event& each) { return each.what == Event::What::flip; });
  Variables variables{{"FENIX_TIMEOUT", std::to_string(work.timeout)},
                      {"FENIX_SIMD", "scalar"},
                      {"FENIX_LOG", traces ? "info" : "off"},
                      {"FENIX_PATH", work.path == 0   ? "auto"
                                     : work.path == 1 ? "window"
                                                      : "fabric"},
                      {"FENIX_WARM_REPLACEMENT", work.warm ? "on" : "off"},
                      {"PRTE_LAUNCHED", "1"}};
  if (flips) variables["FENIX_FAULT"] = "corrupt.own:0:1000000:flip";
  if (work.has_store()) add_store(work, variables);
  return variables;
}

}  // namespace

Jobs::Jobs(World& world, Court& court, const Schedule& schedule, bool traces)
    : world_(world), court_(court), schedule_(schedule), traces_(traces) {
  if (schedule_.work.jobs > 1) world_.on_gone([this](Process& /*gone*/) { start_next(); });
}

void Jobs::start(int job) {
  const Workload& work = schedule_.work;
  std::vector<Process*> processes;
  job_ = job;
  for (int i = 0; i < work.ranks_of(job) + work.spares; ++i) {
    const int node = work.ranks_per_node == 0 ? 0 : i / work.ranks_per_node;
    processes.push_back(&world_.start(node, job * kNumbersOfJob + i, job, [] { fenix_simulated_program(); }));
    processes.back()->environment = environment_of(schedule_, traces_);
  }
  mpi::begin_world(processes);
}

void Jobs::start_next() {
  constexpr Time kMillisecond = 1'000'000;
  if (waits_ || job_ + 1 >= schedule_.work.jobs || world_.has_ranks_of(job_)) return;
  waits_ = true;
  const Time pause = kMillisecond * static_cast<Time>(1 + schedule_.work.pause);
  world_.scheduler().at(world_.now() + pause, [this] {
    waits_ = false;
    world_.note(10, [&] { return "job " + std::to_string(job_ + 1) + " begins"; });
    court_.begin_job(job_ + 1);
    start(job_ + 1);
  });
}

// A process that was killed leaves names, which the next one on its node removes.
void Jobs::look_at_end() {
  if (!world_.verdict().is_good() || world_.has_given_up() || !world_.happened().empty() || !schedule_.work.has_store())
    return;
  std::set<int> nodes;
  for (const Process& each : world_.processes()) nodes.insert(each.node);
  for (const int node : nodes) {
    const auto names = names_at(node, "/tmp");
    if (!names.empty())
      world_.violate("node " + std::to_string(node) + " has /tmp/" + names.front() + " at the end", "P9");
  }
}

}  // namespace fenix_simulation
