// SPDX-License-Identifier: BSD-3-Clause
#include "scale.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "../../bench/fenix_bench/policy.hpp"
#include "choices.hpp"
#include "fabric.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "mpi/state.hpp"
#include "scale_plan.hpp"
#include "tally.hpp"
#include "world.hpp"

extern "C" void fenix_simulated_scale_program();

namespace fenix_simulation {
namespace {

constexpr int kMostRanks = 10'000;
constexpr std::array kPhases{"init",
                             "group",
                             "member",
                             "first store",
                             "store",
                             "commit",
                             "commit_barrier",
                             "death",
                             "repair",
                             "group again",
                             "group of a replacement",
                             "restore"};

struct ScaleOptions {
  ScalePlan plan;
  bench::Policy policy;
  std::string policy_name = "buddy";
  std::string path = "window";
  std::string machine = "tests/simulation/machines/cluster.txt";
  int ranks_per_node = 64;
  bool json = false;
  bool trace = false;
};

/// A phase of all ranks.
struct Sum {
  scaling::Counts most{};
  scaling::Counts all{};
  std::vector<double> seconds;  ///< of the slowest rank, for each repetition
};

const ScalePlan* the_plan = nullptr;
Time first_death = kNever;

int number_in(const std::string& word, const std::string& text, int least, int most) {
  std::size_t end = 0;
  long value = 0;
  try {
    value = std::stol(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || value < least || value > most) {
    throw std::runtime_error(word + " " + text + ": a number from " + std::to_string(least) + " to " +
                             std::to_string(most) + " is needed");
  }
  return static_cast<int>(value);
}

void read_option(ScaleOptions& options, const std::string& word, const std::string& value) {
  constexpr int kMostBytes = 1 << 24;
  const auto number = [&](int least, int most) { return number_in(word, value, least, most); };
  if (word == "--scale")
    options.plan.ranks = number(2, kMostRanks);
  else if (word == "--machine")
    options.machine = value;
  else if (word == "--policy")
    options.policy_name = value;
  else if (word == "--path")
    options.path = value;
  else if (word == "--bytes")
    options.plan.bytes = number(1, kMostBytes);
  else if (word == "--ranks-per-node")
    options.ranks_per_node = number(1, kMostRanks);
  else if (word == "--deaths")
    options.plan.deaths = number(1, kMostRanks);
  else if (word == "--repetitions")
    options.plan.repetitions = number(1, 1000);
  else
    throw std::runtime_error("unknown option " + word);
}

ScaleOptions read_scale_options(const std::vector<std::string>& words) {
  ScaleOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--json" || words[i] == "--trace") {
      (words[i] == "--json" ? options.json : options.trace) = true;
      continue;
    }
    if (i + 1 == words.size()) throw std::runtime_error(words[i] + " needs a value");
    read_option(options, words[i], words[i + 1]);
    ++i;
  }
  const auto policy = bench::parse_policy(options.policy_name);
  if (!policy) throw std::runtime_error("--policy " + options.policy_name + ": there is no such policy");
  if (options.path != "window" && options.path != "fabric" && options.path != "auto") {
    throw std::runtime_error("--path " + options.path + ": window, fabric or auto");
  }
  if (options.plan.deaths >= options.plan.ranks) throw std::runtime_error("--deaths: at most all ranks but one");
  options.policy = *policy;
  options.plan.policy = policy->name;
  return options;
}

std::map<std::string, Sum> sums_of(const std::deque<Process>& processes) {
  std::map<std::string, Sum> sums;
  for (const Process& process : processes) {
    if (!process.exited) continue;  // what the dead have counted is gone
    for (const auto& [name, phase] : tally_of(process.number).phases) {
      Sum& sum = sums[name];
      for (std::size_t i = 0; i < scaling::kinds; ++i) {
        sum.most[i] = std::max(sum.most[i], phase.counts[i]);
        sum.all[i] += phase.counts[i];
      }
      sum.seconds.resize(std::max(sum.seconds.size(), phase.seconds.size()));
      for (std::size_t i = 0; i < phase.seconds.size(); ++i) {
        sum.seconds[i] = std::max(sum.seconds[i], phase.seconds[i]);
      }
    }
  }
  for (auto& [name, sum] : sums) std::sort(sum.seconds.begin(), sum.seconds.end());
  return sums;
}

void print_json(const ScaleOptions& options, const std::map<std::string, Sum>& sums) {
  for (const char* name : kPhases) {
    const auto found = sums.find(name);
    if (found == sums.end() || found->second.seconds.empty()) continue;
    const Sum& sum = found->second;
    std::printf(
        "{\"ranks\": %d, \"policy\": \"%s\", \"deaths\": %d, \"bytes\": %d, \"phase\": \"%s\", \"median\": %.9f, "
        "\"min\": %.9f, \"max\": %.9f",
        options.plan.ranks, options.policy_name.c_str(), options.plan.deaths, options.plan.bytes, name,
        sum.seconds[sum.seconds.size() / 2], sum.seconds.front(), sum.seconds.back());
    for (std::size_t i = 0; i < scaling::kinds; ++i) {
      std::printf(", \"%s\": %lld, \"all_%s\": %lld", scaling::kNames[i], static_cast<long long>(sum.most[i]),
                  scaling::kNames[i], static_cast<long long>(sum.all[i]));
    }
    std::printf("}\n");
  }
}

void print_table(const std::map<std::string, Sum>& sums) {
  std::printf("%-23s %-16s %16s %20s\n", "phase", "", "most of a rank", "of all ranks");
  for (const char* name : kPhases) {
    const auto found = sums.find(name);
    if (found == sums.end() || found->second.seconds.empty()) continue;
    const Sum& sum = found->second;
    std::printf("%-23s %-16s %16.6f\n", name, "ms, predicted", 1e3 * sum.seconds[sum.seconds.size() / 2]);
    for (std::size_t i = 0; i < scaling::kinds; ++i) {
      if (sum.all[i] == 0) continue;
      std::printf("%-23s %-16s %16lld %20lld\n", "", scaling::kNames[i], static_cast<long long>(sum.most[i]),
                  static_cast<long long>(sum.all[i]));
    }
  }
}

std::map<std::string, std::string> environment_of(const ScaleOptions& options) {
  // No time-out ends a wait that takes long on the virtual clock.
  return {{"FENIX_TIMEOUT", "10000"},
          {"FENIX_SIMD", "scalar"},
          {"FENIX_LOG", "off"},
          {"FENIX_PATH", options.path},
          {"PRTE_LAUNCHED", "1"}};
}

/// Returns false if the run has failed.
bool simulate(ScaleOptions& options, const std::string& head) {
  Choices choices(0);
  choices.make_harmless();
  Surroundings surroundings;
  surroundings.stalls = 0;
  surroundings.late_notices = false;
  World world(image_of_program(), choices, surroundings, {}, options.trace);
  world.on_death(mpi::note_death);
  std::vector<Process*> processes;
  for (int i = 0; i < options.plan.ranks + options.plan.deaths; ++i) {
    processes.push_back(&world.start(i / options.ranks_per_node, [] { fenix_simulated_scale_program(); }));
    processes.back()->environment = environment_of(options);
  }
  mpi::begin_world(processes);
  const auto before = std::chrono::steady_clock::now();
  world.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  image_of_program().forget();
  for (const std::string& line : world.lines()) std::puts(line.c_str());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (!world.verdict().is_good()) {
    std::fprintf(stderr, "simulate: %s BROKEN: %s\n", world.verdict().promise.c_str(), world.verdict().text.c_str());
    return false;
  }
  if (options.json) {
    print_json(options, sums_of(world.processes()));
  } else {
    std::puts(head.c_str());
    print_table(sums_of(world.processes()));
  }
  std::fprintf(stderr, "simulated in %.1f s, with %.0f MiB and %llu switches; %.3f ms of virtual time\n", took.count(),
               static_cast<double>(usage.ru_maxrss) / 1024,
               static_cast<unsigned long long>(world.scheduler().switches()), static_cast<double>(world.now()) / 1e6);
  return true;
}

}  // namespace

int run_scale(const std::vector<std::string>& words) {
  ScaleOptions options = read_scale_options(words);
  const Machine machine = read_machine(options.machine);
  options.plan.values = options.policy.values.empty() ? nullptr : options.policy.values.data();
  the_plan = &options.plan;
  set_machine(&machine);
  forget_files();
  begin_network();
  const std::string head = std::to_string(options.plan.ranks) + " ranks, " + std::to_string(options.ranks_per_node) +
                           " on a node; " + options.policy_name + ", " + std::to_string(options.plan.bytes) +
                           " bytes, " + std::to_string(options.plan.deaths) + " die; " + options.path + ", " +
                           options.machine;
  const bool good = simulate(options, head);
  end_network();
  return good ? 0 : 1;
}

extern "C" const ScalePlan* scale_plan() { return the_plan; }

extern "C" void scale_die() {
  Process& self = *present_process();
  first_death = std::min(first_death, world().time_here());
  self.victim = true;
  world().kill(self, "it is its turn");
}

extern "C" double scale_since_death(double time) { return time - static_cast<double>(first_death) / 1e9; }

extern "C" void scale_fail(const char* what, int code, const char* message) {
  world().violate(std::string(what) + ": " + std::to_string(code) + ": " + message, "program");
}

}  // namespace fenix_simulation
