// SPDX-License-Identifier: BSD-3-Clause
// Simulated ranks that do what a plan says.
#include <algorithm>
#include <thread>

#include "core/group_recovery.hpp"
#include "orders/plan.hpp"
#include "runtime/runtime.hpp"
#include "support/one_processor.hpp"
#include "support/thread_team.hpp"

namespace fenix_orders {
namespace {

using fenix_test::Crew;
using fenix_test::Life;
using fenix_test::MortalPath;
using fenix_test::ThreadTeam;

/// A rank: its process, and what the library has in it.
struct Process {
  std::unique_ptr<fenix_impl::SimulatedRuntime> runtime = std::make_unique<fenix_impl::SimulatedRuntime>();
  Real real;
  std::string difference;
};

class Job {
 public:
  explicit Job(int ranks) : processes_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) processes_[static_cast<std::size_t>(rank)].real.rank = rank;
    form();
  }
  ~Job() {
    each([](Process& process) { process.runtime.reset(); });
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Does something on all ranks at the same time.
  template <class Body>
  void each(Body&& body) {
    std::vector<std::thread> threads;
    for (Process& process : processes_) {
      threads.emplace_back([&] {
        fenix_impl::set_simulated_runtime(process.runtime.get());
        body(process);
        crew_->leave(process.real.rank);
      });
    }
    for (auto& thread : threads) thread.join();
    crew_->all_return();
  }

  std::string play(const Phase& phase) {
    each([&](Process& process) {
      for (const Step& step : phase.steps[static_cast<std::size_t>(process.real.rank)]) {
        process.difference = step.work(process.real);
        if (process.difference.empty() && process.runtime->failure_seen)
          process.difference = "a failure, without a death";
        if (process.difference.empty()) continue;
        process.difference += " [" + (step.text.empty() ? std::string("step") : step.text) + "]";
        crew_->dissolve();
        return;
      }
    });
    std::string all;
    for (const Process& process : processes_) {
      if (!process.difference.empty()) all += "  rank " + number(process.real.rank) + ": " + process.difference + "\n";
    }
    return all;
  }

  void replace(const std::vector<int>& dying) {
    for (const int rank : dying) {
      crew_->kill(rank);
      Process& process = processes_[static_cast<std::size_t>(rank)];
      process = Process();
      process.real.rank = rank;
    }
    form();
    each([](Process& process) {
      fenix_impl::GroupRecovery::settle(*process.runtime->groups().team, process.runtime->groups().formed());
    });
  }

 private:
  void form() {
    const auto crew = std::make_shared<Crew>(static_cast<int>(processes_.size()));
    for (Process& process : processes_) {
      auto& groups = process.runtime->groups();
      groups.detach_all();
      const int rank = process.real.rank;
      const auto life = std::make_shared<Life>();
      groups.team = std::make_shared<ThreadTeam>(crew, rank, life);
      groups.make_path = [crew, rank, life] { return std::make_shared<MortalPath>(crew, rank, life); };
    }
    crew_ = crew;
  }

  std::shared_ptr<Crew> crew_;
  std::vector<Process> processes_;
};

}  // namespace

std::string expect_code(const char* call, int code, int expected) {
  if (code == expected) return {};
  const std::string why = code < 0 ? " (" + fenix_impl::last_error().text + ")" : "";
  return std::string(call) + " returned " + number(code) + " instead of " + number(expected) + why;
}

Verdict execute(const Program& program) {
  Planner planner(program, false);
  Job job(program.ranks);
  Phase phase;
  Verdict verdict;
  while (planner.next(phase)) {
    for (const auto& steps : phase.steps) verdict.steps += static_cast<int>(steps.size());
    verdict.difference = job.play(phase);
    if (!verdict.difference.empty()) return verdict;
    if (!phase.dying.empty()) job.replace(phase.dying);
  }
  return verdict;
}

}  // namespace fenix_orders
