// SPDX-License-Identifier: BSD-3-Clause
#include "times.hpp"

#include <algorithm>

namespace bench {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

void Times::add(const std::vector<double>& of_ranks) {
  const auto [fastest, last] = std::minmax_element(of_ranks.begin(), of_ranks.end());
  slowest.push_back(*last);
  spread.push_back(*last > 0 ? (*last - *fastest) / *last : 0);
}

Ratio ratio(const Times& of, const Times& to) {
  std::vector<double> each;
  for (std::size_t i = 0; i < std::min(of.slowest.size(), to.slowest.size()); ++i) {
    each.push_back(of.slowest[i] / to.slowest[i]);
  }
  const Summary range = summarize(each), times = summarize(of.slowest), others = summarize(to.slowest);
  return {times.median / others.median, range.min, range.max, times.min / others.min};
}

}  // namespace bench
