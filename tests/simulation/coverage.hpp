// SPDX-License-Identifier: BSD-3-Clause
// All that schedules have come to: fault points, and pairs of events with what lay between them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "run.hpp"

namespace fenix_simulation {

/// Counters, in memory that several searching processes share. Points have the numbers of the list of the sources.
struct Coverage {
  static constexpr std::size_t kPoints = 256;
  static constexpr std::size_t kSituations = std::size_t{1} << 20;

  std::array<std::atomic<std::uint64_t>, kPoints> passed;  ///< how often
  std::array<std::atomic<std::uint64_t>, kPoints> events;  ///< how often something went wrong there
  std::array<std::atomic<std::uint32_t>, kPoints * kPoints> pairs;
  std::array<std::atomic<std::uint8_t>, kSituations> situations;  ///< hashes of where all ranks were at an event
};

/// All that is new in an outcome.
struct Novelty {
  int pairs = 0;
  int situations = 0;
};

/// Returns how often an event at one point was followed by one at the other.
std::uint32_t times_seen(const Coverage& coverage, int first_point, int second_point);
Novelty note(Coverage& coverage, const Outcome& outcome);
/// Counts of points and pairs that were seen.
struct Seen {
  std::size_t points = 0;
  std::size_t events = 0;
  std::size_t pairs = 0;
  std::size_t situations = 0;
};
Seen seen(const Coverage& coverage);
/// Points of the sources that no schedule has passed.
std::vector<std::string> never_passed(const Coverage& coverage);

}  // namespace fenix_simulation
