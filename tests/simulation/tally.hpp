// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI that each process has made, by phases of its program: what bench/scaling counts in real runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../bench/scaling/counting.hpp"
#include "cost.hpp"

namespace fenix_simulation {

/// Counts of a process.
struct Tally {
  struct Phase {
    scaling::Counts counts{};  ///< the most of all repetitions
    std::vector<double> seconds;
  };

  scaling::Counts counts{};  ///< from the start on
  scaling::Counts before{};  ///< at the beginning of the phase
  Time start = 0;
  std::map<std::string, Phase> phases;
};

/// Counts a call of the present process, if calls are counted.
void count_call(scaling::Count number);
/// The same with the bytes that it transfers.
void count_bytes(scaling::Count number, scaling::Count bytes, std::size_t amount);

/// Forgets all that was counted.
void forget_tallies();
Tally& tally_of(int process);

}  // namespace fenix_simulation
