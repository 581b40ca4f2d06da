// SPDX-License-Identifier: BSD-3-Clause
// A program on a real rank: its plan, how far it is, and what the rank has.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "orders/plan.hpp"

namespace fenix_orders {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1;
  int ranks = 1;
  bool jumps = false;
  bool shows = false;
  std::set<int> keep;  ///< empty: all
};

inline Options options_of(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at];
    std::string value = argv[at + 1];
    if (name == "--seed") options.seed = std::stoull(value);
    if (name == "--programs") options.programs = std::stoull(value);
    if (name == "--ranks") options.ranks = std::stoi(value);
    if (name == "--mode") options.jumps = value == "jump";
    if (name == "--show") options.shows = true;
    if (name != "--keep") continue;
    options.keep.insert(-1);
    for (std::size_t end = 0; !value.empty(); value.erase(0, end + 1)) {
      options.keep.insert(std::stoi(value, &end));
      if (end == value.size()) break;
    }
  }
  return options;
}

/// Returns the program of a seed, which deletes its groups at its end.
inline Program program_of(std::uint64_t seed, const Options& options) {
  Program whole = fenix_orders::program_of(seed);
  Program program{seed, options.ranks, {}};
  std::set<int> groups;
  for (std::size_t at = 0; at < whole.calls.size(); ++at) {
    if (!options.keep.empty() && options.keep.count(static_cast<int>(at)) == 0) continue;
    program.calls.push_back(whole.calls[at]);
    groups.insert(whole.calls[at].group);
  }
  for (const int group : groups) program.calls.push_back({Op::delete_group, group, 0, seed});
  return program;
}

inline int deaths_of(const Program& program) {
  Planner planner(program, false);
  Phase phase;
  std::size_t deaths = 0;
  while (planner.next(phase)) deaths += phase.dying.size();
  return static_cast<int>(deaths);
}

/// A program on this rank.
class Played {
 public:
  /// phase: number of phases that others have done, and this rank has not. outcomes: as of outcomes().
  Played(const Options& options, std::uint64_t seed, std::uint64_t phase, std::uint64_t outcomes)
      : program_(program_of(seed, options)), planner_(program_, true, deaths_of(program_)) {
    while (number_ < phase && next()) {
      if (!phase_.stamps.empty()) tell((outcomes >> (kBits * told_)) & kMask);
    }
  }

  bool next() {
    ++number_;
    return planner_.next(phase_);
  }
  /// Returns the number of phases that have begun.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Returns what tell() has been told so far.
  [[nodiscard]] std::uint64_t outcomes() const { return outcomes_; }
  [[nodiscard]] const Phase& phase() const { return phase_; }
  [[nodiscard]] bool ends(int rank) const {
    return std::find(phase_.dying.begin(), phase_.dying.end(), rank) != phase_.dying.end();
  }
  void tell(std::uint64_t commits) {
    planner_.tell(static_cast<int>(commits));
    outcomes_ |= commits << (kBits * told_++);
  }

  /// Does a step of a rank in this phase. Returns the difference.
  std::string play(const Step& step, int rank, MPI_Comm comm) {
    real_.rank = rank;
    real_.comm = comm;
    const std::string difference = step.work(real_);
    return difference.empty() ? difference : difference + " [" + step.text + "]";
  }
  [[nodiscard]] bool dies_in_step(int rank) const { return random_of(rank).one_in(2); }
  /// Returns the time in the step after which a rank dies.
  [[nodiscard]] int microseconds(int rank) const { return random_of(rank + 1000).below(600); }
  /// Returns commits in the steps that a dying rank does while others may die.
  [[nodiscard]] std::uint64_t commits_before_death(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    const auto begin = phase_.steps[at].begin();
    const auto first = begin + static_cast<std::ptrdiff_t>(phase_.open_from[at]);
    const auto end = begin + static_cast<std::ptrdiff_t>(phase_.dies_before[at]);
    return static_cast<std::uint64_t>(std::count_if(first, end, [](const Step& step) { return step.commits; }));
  }

 private:
  [[nodiscard]] Random random_of(int rank) const {
    return Random(program_.seed + number_, static_cast<std::uint64_t>(rank));
  }

  static constexpr std::uint64_t kBits = 2;
  static constexpr std::uint64_t kMask = 3;

  Program program_;
  Planner planner_;
  Phase phase_;
  std::uint64_t number_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t outcomes_ = 0;
  Real real_;
};

}  // namespace fenix_orders
