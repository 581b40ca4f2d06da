// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"

#include <algorithm>

#include "points.hpp"
#include "points_of_sources.hpp"

namespace fenix_simulation {
namespace {

static_assert(kPointsOfSources.size() <= Coverage::kPoints);

// Numbers of this process in the list of the sources.
int in_sources(int point) {
  if (point < 0) return -1;
  static std::vector<int> known;
  while (known.size() <= static_cast<std::size_t>(point)) {
    known.push_back(place_in_sources(names_of_points()[known.size()]));
  }
  return known[static_cast<std::size_t>(point)];
}

std::uint64_t situation_of(const Happened& event) {
  std::vector<int> points = event.points;
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::uint64_t hash = static_cast<std::uint64_t>(event.place.point + 1);
  for (const int point : points) hash = mixed(hash ^ static_cast<std::uint64_t>(in_sources(point) + 2));
  return hash % Coverage::kSituations;
}

}  // namespace

int place_in_sources(const std::string& point) {
  const auto* const found = std::find(kPointsOfSources.begin(), kPointsOfSources.end(), point);
  return found == kPointsOfSources.end() ? -1 : static_cast<int>(found - kPointsOfSources.begin());
}

std::uint32_t times_seen(const Coverage& coverage, int first_point, int second_point) {
  const int first = in_sources(first_point);
  const int second = in_sources(second_point);
  if (first < 0 || second < 0) return 0;
  return coverage.pairs[static_cast<std::size_t>(first) * Coverage::kPoints + static_cast<std::size_t>(second)];
}

Novelty note(Coverage& coverage, const Outcome& outcome) {
  Novelty novelty;
  for (const auto& [point, count] : outcome.passes) {
    if (in_sources(point) >= 0) coverage.passed[static_cast<std::size_t>(in_sources(point))] += count;
  }
  int before = -1;
  for (const Happened& event : outcome.happened) {
    const int here = in_sources(event.place.point);
    if (here >= 0) ++coverage.events[static_cast<std::size_t>(here)];
    if (here >= 0 && before >= 0 &&
        coverage.pairs[static_cast<std::size_t>(before) * Coverage::kPoints + static_cast<std::size_t>(here)]++ == 0) {
      ++novelty.pairs;
    }
    if (coverage.situations[situation_of(event)].exchange(1) == 0) ++novelty.situations;
    before = here;
  }
  return novelty;
}

Seen seen(const Coverage& coverage) {
  const auto counted = [](const auto& all) {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& each) { return each.load() != 0; }));
  };
  return {counted(coverage.passed), counted(coverage.events), counted(coverage.pairs), counted(coverage.situations)};
}

std::vector<std::string> never_passed(const Coverage& coverage) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < kPointsOfSources.size(); ++i) {
    if (coverage.passed[i] == 0) missing.emplace_back(kPointsOfSources[i]);
  }
  return missing;
}

}  // namespace fenix_simulation
