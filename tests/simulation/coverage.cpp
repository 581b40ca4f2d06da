// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"

#include <algorithm>

#include "points.hpp"
#include "points_of_sources.hpp"

namespace fenix_simulation {
namespace {

static_assert(kPointsOfSources.size() <= Coverage::kPoints);

/// Returns the number of a point of the sources, or −1.
int in_sources(int point) { return point < static_cast<int>(kPointsOfSources.size()) ? point : -1; }

/// Points that the list of the sources does not have: their names are no literals.
std::vector<std::string>& other_points() {
  static std::vector<std::string> names;
  return names;
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

int number_of_point(std::string_view name) {
  const auto* const found = std::lower_bound(kPointsOfSources.begin(), kPointsOfSources.end(), name);
  if (found != kPointsOfSources.end() && *found == name) return static_cast<int>(found - kPointsOfSources.begin());
  auto& others = other_points();
  const auto other = std::find(others.begin(), others.end(), name);
  const auto number = static_cast<int>(kPointsOfSources.size()) + static_cast<int>(other - others.begin());
  if (other == others.end()) others.emplace_back(name);
  return number;
}

std::string_view name_of_point(int number) {
  const auto place = static_cast<std::size_t>(number);
  return place < kPointsOfSources.size() ? kPointsOfSources[place] : other_points().at(place - kPointsOfSources.size());
}

std::uint32_t times_seen(const Coverage& coverage, int first_point, int second_point) {
  const int first = in_sources(first_point);
  const int second = in_sources(second_point);
  if (first < 0 || second < 0) return 0;
  return coverage.pairs[static_cast<std::size_t>(first) * Coverage::kPoints + static_cast<std::size_t>(second)];
}

Novelty note(Coverage& coverage, const Outcome& outcome) {
  Novelty novelty;
  for (const Passage& passage : outcome.passages) {
    if (in_sources(passage.point) >= 0) ++coverage.passed[static_cast<std::size_t>(passage.point)];
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
