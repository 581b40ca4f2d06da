// SPDX-License-Identifier: BSD-3-Clause
// How likely it is that more dies at once than a policy covers: simulated, with who protects whom taken from the library itself.
//
// Nodes fail independently of each other, racks as a whole too. After a failure the data is unprotected until the repair and the
// rebuild are done; a failure meanwhile begins that anew. One trial is one failure and what follows until all is protected again.
// Losses are rare: trials are drawn such that they happen often, and weighed such that the result is the same (importance
// sampling). --check compares with the formulas of cases that have one, and with trials that are not weighed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parity/placement.hpp"

using namespace fenix_impl;

namespace {

struct Machine {
  int nodes = 0;
  int ranks_per_node = 1;
  int nodes_per_rack = 0;  // 0: there are no racks
  double node_rate = 0;    // failures of a node in a second
  double rack_rate = 0;    // of a rack as a whole
  double window = 0;       // seconds from a failure until all is protected again

  [[nodiscard]] int racks() const { return nodes_per_rack > 0 ? (nodes + nodes_per_rack - 1) / nodes_per_rack : 0; }
  [[nodiscard]] double rate() const { return nodes * node_rate + racks() * rack_rate; }
};

struct Estimate {
  double loss = 0;   // probability that a failure leads to one
  double error = 0;  // standard error
};

class Simulation {
 public:
  Simulation(const Machine& machine, const Policy& policy, bool weighed, unsigned seed)
      : machine_(machine),
        weighed_(weighed),
        random_(seed),
        placement_(policy, machine.nodes * machine.ranks_per_node, order_of(locations(machine))),
        dead_(static_cast<std::size_t>(machine.nodes)),
        missing_(static_cast<std::size_t>(machine.nodes * machine.ranks_per_node)) {}

  Estimate run(int trials) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < trials; ++i) {
      const double loss = trial();
      sum += loss;
      squares += loss * loss;
    }
    const double mean = sum / trials;
    return {mean, std::sqrt(std::max(0.0, squares / trials - mean * mean) / trials)};
  }

 private:
  static std::vector<Location> locations(const Machine& machine) {
    std::vector<Location> all;
    for (int rank = 0; rank < machine.nodes * machine.ranks_per_node; ++rank) {
      const int node = rank / machine.ranks_per_node;
      const int rack = machine.nodes_per_rack > 0 ? node / machine.nodes_per_rack : 0;
      all.push_back({static_cast<std::uint64_t>(rack), static_cast<std::uint64_t>(node)});
    }
    return all;
  }

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  /// The weight of the trial if data is lost in it, else 0.
  double trial() {
    double weight = 1;
    bool lost = fail_any();
    const std::vector<int> partners =
        partners_of(touched_[static_cast<std::size_t>(below(static_cast<int>(touched_.size())))]);
    const double rate = machine_.rate();
    // About every other trial sees a further failure.
    constexpr double kOften = 0.7;
    const double drawn = weighed_ ? std::max(rate, kOften / machine_.window) : rate;
    for (double left = machine_.window; !lost;) {
      const double time = -std::log1p(-uniform()) / drawn;
      if (time > left) {
        weight *= std::exp((drawn - rate) * left);
        break;
      }
      weight *= rate / drawn * std::exp((drawn - rate) * time);
      const std::size_t dead_before = touched_.size();
      lost = weighed_ && !partners.empty() ? fail_near(partners, weight) : fail_any();
      left = touched_.size() > dead_before ? machine_.window : left - time;
    }
    for (const int node : touched_) dead_[static_cast<std::size_t>(node)] = false;
    for (const int rank : counted_) missing_[static_cast<std::size_t>(rank)] = 0;
    touched_.clear();
    counted_.clear();
    return lost ? weight : 0;
  }

  /// A node or a rack fails, as often as they do. True if data is lost.
  bool fail_any() {
    const bool is_rack = uniform() * machine_.rate() < machine_.racks() * machine_.rack_rate;
    return is_rack ? fail_rack(below(machine_.racks())) : fail_node(below(machine_.nodes));
  }

  /// The same, but every other time one of the given nodes.
  bool fail_near(const std::vector<int>& partners, double& weight) {
    const double of_node = machine_.node_rate / machine_.rate();
    const double drawn_near = 0.5 / static_cast<double>(partners.size());
    const auto weigh = [&](bool is_near) { weight *= of_node / (0.5 * of_node + (is_near ? drawn_near : 0)); };
    if (uniform() < 0.5) {
      weigh(true);
      return fail_node(partners[static_cast<std::size_t>(below(static_cast<int>(partners.size())))]);
    }
    if (uniform() * machine_.rate() < machine_.racks() * machine_.rack_rate) {
      weight *= 2;  // of racks, the other half of the draws has none
      return fail_rack(below(machine_.racks()));
    }
    const int node = below(machine_.nodes);
    weigh(std::find(partners.begin(), partners.end(), node) != partners.end());
    return fail_node(node);
  }

  bool fail_rack(int rack) {
    bool lost = false;
    const int first = rack * machine_.nodes_per_rack;
    for (int node = first; node < std::min(first + machine_.nodes_per_rack, machine_.nodes); ++node) {
      lost = fail_node(node) || lost;
    }
    return lost;
  }

  bool fail_node(int node) {
    if (dead_[static_cast<std::size_t>(node)]) return false;
    dead_[static_cast<std::size_t>(node)] = true;
    touched_.push_back(node);
    bool lost = false;
    for (int rank = node * machine_.ranks_per_node; rank < (node + 1) * machine_.ranks_per_node; ++rank) {
      lost = miss(rank) || lost;
    }
    return lost;
  }

  /// True if what the rank had cannot be had any more, or what it kept for others.
  bool miss(int rank) {
    const auto& redundancy_set = placement_.redundancy_set(rank);
    if (!redundancy_set.empty()) {
      // Counted at the first of them.
      const int first = redundancy_set.front();
      counted_.push_back(first);
      return ++missing_[static_cast<std::size_t>(first)] > placement_.copies();
    }
    if (placement_.copies() == 0) return true;
    counted_.push_back(rank);
    missing_[static_cast<std::size_t>(rank)] = 1;
    return missing_[static_cast<std::size_t>(placement_.holder(rank, 0))] != 0 ||
           missing_[static_cast<std::size_t>(placement_.kept(rank, 0))] != 0;
  }

  /// Nodes whose failure could lose what the node's failure has left unprotected.
  std::vector<int> partners_of(int node) {
    std::vector<int> partners;
    const auto add = [&](int rank) {
      const int other = rank / machine_.ranks_per_node;
      if (other != node && std::find(partners.begin(), partners.end(), other) == partners.end())
        partners.push_back(other);
    };
    for (int rank = node * machine_.ranks_per_node; rank < (node + 1) * machine_.ranks_per_node; ++rank) {
      for (const int each : placement_.redundancy_set(rank)) add(each);
      if (placement_.redundancy_set(rank).empty() && placement_.copies() > 0) {
        add(placement_.holder(rank, 0));
        add(placement_.kept(rank, 0));
      }
    }
    return partners;
  }

  Machine machine_;
  bool weighed_;
  std::mt19937_64 random_;
  Placement placement_;
  std::vector<bool> dead_;
  std::vector<int> touched_;  // nodes
  std::vector<int> missing_;  // by rank, or by the first rank of a redundancy set
  std::vector<int> counted_;
};

struct Choice {
  const char* name;
  Policy policy;
  double memory;  // at depth 0, in times of the data: docs/how-to-failures.md
};

Policy coded(int size, int losses) {
  return {losses == 1 ? Policy::Kind::parity : Policy::Kind::reed_solomon, Policy::kChosen, size, losses};
}

double memory_of(int size, int losses) { return 2 + 2.0 * losses / (size - losses); }

std::vector<Choice> choices() {
  std::vector<Choice> all{{"pairs", {Policy::Kind::buddies, Policy::kChosen}, 4}};
  const auto add = [&](const char* name, int size, int losses) {
    all.push_back({name, coded(size, losses), memory_of(size, losses)});
  };
  add("XOR of 4", 4, 1);
  add("XOR of 8", 8, 1);
  add("XOR of 16", 16, 1);
  add("2 of 4", 4, 2);
  add("2 of 8", 8, 2);
  add("2 of 16", 16, 2);
  add("3 of 8", 8, 3);
  add("3 of 16", 16, 3);
  add("4 of 16", 16, 4);
  return all;
}

// ------------------------------------------------------------------------------------------------------------- checks

/// Exact for redundancy sets of size nodes, one of which may die: after d deaths in as many redundancy sets, each further one is in one of these, or
/// in another.
double one_loss_covered(const Machine& machine, int size, int dead) {
  const int alive = machine.nodes - dead;
  if (alive <= 0) return 0;
  const double further = -std::expm1(-alive * machine.node_rate * machine.window);
  const double hit = std::min(1.0, static_cast<double>(dead) * (size - 1) / alive);
  if (hit >= 1 || further < 1e-15) return further * hit;
  return further * (hit + (1 - hit) * one_loss_covered(machine, size, dead + 1));
}

/// Exact for one redundancy set of all nodes: each further failure comes within the window of the one before.
double one_cohort(const Machine& machine, int losses) {
  double result = 1;
  for (int dead = 1; dead <= losses; ++dead) {
    result *= -std::expm1(-(machine.nodes - dead) * machine.node_rate * machine.window);
  }
  return result;
}

bool agrees(const char* what, const Estimate& found, double expected, double error_of_expected = 0) {
  const double error = std::hypot(found.error, error_of_expected);
  const double off = std::abs(found.loss - expected) / error;
  constexpr double kMost = 4;
  const bool good = found.loss > 0 && off < kMost;
  std::printf("%-70s %.4e ± %.1e, expected %.4e: %.1f standard errors%s\n", what, found.loss, found.error, expected,
              off, good ? "" : "  WRONG");
  return good;
}

bool check() {
  constexpr int kTrials = 1'000'000;
  const Machine rare{1024, 1, 0, 1e-9, 0, 60};
  const Machine frequent{64, 1, 0, 1e-4, 0, 30};
  const Machine small{8, 1, 0, 1e-6, 0, 60};
  Machine racks = frequent;
  racks.nodes_per_rack = 16;
  racks.rack_rate = 2e-4;
  const Policy pairs{Policy::Kind::buddies, Policy::kChosen};
  unsigned seed = 1;
  const auto estimate = [&](const Machine& machine, const Policy& policy, bool weighed = true) {
    return Simulation(machine, policy, weighed, seed++).run(kTrials);
  };
  bool good = agrees("pairs, 1024 nodes", estimate(rare, pairs), one_loss_covered(rare, 2, 1));
  good = agrees("pairs, 64 nodes that often fail", estimate(frequent, pairs), one_loss_covered(frequent, 2, 1)) && good;
  good = agrees("the same, not weighed", estimate(frequent, pairs, false), one_loss_covered(frequent, 2, 1)) && good;
  good = agrees("XOR of 8, 1024 nodes", estimate(rare, coded(8, 1)), one_loss_covered(rare, 8, 1)) && good;
  good = agrees("2 of 8, 8 nodes", estimate(small, coded(8, 2)), one_cohort(small, 2)) && good;
  good = agrees("3 of 8, 8 nodes", estimate(small, coded(8, 3)), one_cohort(small, 3)) && good;
  const Estimate plain = estimate(racks, coded(8, 2), false);
  good = agrees("2 of 8, racks of 16 of 64 nodes, beside trials that are not weighed", estimate(racks, coded(8, 2)),
                plain.loss, plain.error) &&
         good;
  return good;
}

// -------------------------------------------------------------------------------------------------------------- results

constexpr double kDay = 86400;
constexpr double kYear = 365.25 * kDay;

void print(const Machine& machine, const Choice& choice, const char* failures, int trials) {
  const Estimate found = Simulation(machine, choice.policy, true, 1).run(trials);
  std::printf(
      "{\"nodes\": %d, \"policy\": \"%s\", \"memory\": %.4f, \"failures\": \"%s\", \"window\": %g, \"failures_a_day\": "
      "%.6g, "
      "\"loss\": %.6g, \"error\": %.3g, \"day\": %.6g, \"week\": %.6g}\n",
      machine.nodes, choice.name, choice.memory, failures, machine.window, machine.rate() * kDay, found.loss,
      found.error, -std::expm1(-machine.rate() * kDay * found.loss),
      -std::expm1(-machine.rate() * 7 * kDay * found.loss));
  std::fflush(stdout);
}

int usage() {
  std::fprintf(stderr,
               "usage: dataloss --check | dataloss [TRIALS [NODE_YEARS [RACK_YEARS [WINDOW_SECONDS]]]]\n"
               "Mean years between failures of a node and of a rack of 32 nodes as a whole; seconds until all is "
               "protected again.\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--check") return check() ? EXIT_SUCCESS : EXIT_FAILURE;
  const auto argument = [&](int index, double otherwise) { return argc > index ? std::atof(argv[index]) : otherwise; };
  constexpr double kTrials = 1e6;
  constexpr double kNodeYears = 5;
  constexpr double kRackYears = 20;
  constexpr double kWindow = 60;
  const auto trials = static_cast<int>(argument(1, kTrials));
  if (argc > 5 || trials < 1 || argument(2, kNodeYears) <= 0 || argument(3, kRackYears) <= 0 ||
      argument(4, kWindow) <= 0) {
    return usage();
  }
  for (const int nodes : {64, 1024, 8192}) {
    Machine machine{nodes, 4, 0, 1 / (argument(2, kNodeYears) * kYear), 0, argument(4, kWindow)};
    for (const Choice& choice : choices()) print(machine, choice, "nodes", trials);
    machine.nodes_per_rack = 32;
    machine.rack_rate = 1 / (argument(3, kRackYears) * kYear);
    for (const Choice& choice : choices()) print(machine, choice, "nodes and racks", trials);
  }
}
