// SPDX-License-Identifier: BSD-3-Clause
#include "tally.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "scale_plan.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr double kSecond = 1e9;

std::deque<Tally> tallies;  // by number of the process

Tally& own() { return tally_of(present_process()->number); }

}  // namespace

Tally& tally_of(int process) {
  const auto number = static_cast<std::size_t>(process);
  if (number >= tallies.size()) tallies.resize(number + 1);
  return tallies[number];
}

void forget_tallies() { tallies.clear(); }

void count_call(scaling::Count number) {
  if (machine() != nullptr) ++own().counts[number];
}

void count_bytes(scaling::Count number, scaling::Count bytes, std::size_t amount) {
  if (machine() == nullptr) return;
  ++own().counts[number];
  own().counts[bytes] += static_cast<std::int64_t>(amount);
}

extern "C" void scale_begin() {
  Tally& tally = own();
  tally.before = tally.counts;
  tally.start = world().time_here();
}

extern "C" void scale_end(const char* phase) {
  Tally& tally = own();
  Tally::Phase& its = tally.phases[phase];
  for (std::size_t i = 0; i < scaling::kinds; ++i) {
    its.counts[i] = std::max(its.counts[i], tally.counts[i] - tally.before[i]);
  }
  its.seconds.push_back(static_cast<double>(world().time_here() - tally.start) / kSecond);
}

extern "C" void scale_seconds(const char* phase, double seconds) { own().phases[phase].seconds = {seconds}; }

}  // namespace fenix_simulation
