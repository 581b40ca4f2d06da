// SPDX-License-Identifier: BSD-3-Clause
// Times of repetitions, and what is told of them.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

namespace bench {

double seconds_now();

struct Summary {
  double median = 0;
  double min = 0;
  double max = 0;
};

Summary summarize(std::vector<double> values);

/// Times of each repetition: seconds of the slowest rank, and by how much of that the fastest one was faster.
struct Times {
  std::vector<double> slowest;
  std::vector<double> spread;

  void add(const std::vector<double>& of_ranks);
};

struct Ratio {
  double median = 0;    // of the medians
  double min = 0;       // of any one repetition
  double max = 0;       // of any one repetition
  double of_least = 0;  // of the shortest times: what other work on the machine disturbs least
};

Ratio ratio(const Times& of, const Times& to);

}  // namespace bench
