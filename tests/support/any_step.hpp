// SPDX-License-Identifier: BSD-3-Clause
// Applications whose ranks die at each step of storing and committing.
#pragma once

#include <cstdlib>

#include "support/application.hpp"
#include "support/encoded.hpp"

namespace fenix_test {

/// As long as it exists, replacements rebuild without the help of the ranks that are left.
class RebuildsAlone {
 public:
  explicit RebuildsAlone(bool alone = true) {
    if (alone) setenv("FENIX_REBUILD", "alone", 1);
  }
  RebuildsAlone(const RebuildsAlone&) = delete;
  RebuildsAlone& operator=(const RebuildsAlone&) = delete;
  ~RebuildsAlone() { unsetenv("FENIX_REBUILD"); }
};

/// Lets each rank die at each step, each time in an application of its own, and then its neighbour: rebuilt data and redundancy protect as
/// well as the first ones. make(steps) makes the application.
template <class Make>
void lose_one_at_any_step(const Encoded& each, int stride, Make&& make) {
  for (int dying = 0; dying < each.size; ++dying) {
    SCOPED_TRACE(testing::Message() << each << ", " << dying << " dies");
    for_steps(
        7 * each.size + dying,
        [&](int steps) {
          Application application = make(steps);
          EXPECT_TRUE(application.play(2));
          application.job.doom(dying, steps, some_unlucky(steps));
          const bool lives = application.play(6);
          application.job.repair();
          EXPECT_TRUE(application.covered());
          EXPECT_TRUE(application.play(7));
          application.job.kill((dying + 1) % each.size);
          application.job.repair();
          EXPECT_TRUE(application.play(8));
          return !lives;
        },
        stride);
  }
}

/// The same with two ranks that die at the same time, or soon after each other.
template <class Make>
void lose_two_at_any_step(const Encoded& each, int stride, Make&& make) {
  for (int dying = 0; dying < each.size; ++dying) {
    const int other = (dying + 1 + dying % 2) % each.size;
    SCOPED_TRACE(testing::Message() << each << ", " << dying << " dies, and " << other);
    for_steps(
        7 * each.size + dying,
        [&](int steps) {
          Application application = make(steps);
          EXPECT_TRUE(application.play(2));
          application.job.doom(dying, steps, some_unlucky(steps));
          application.job.doom(other, steps + steps % 5, some_unlucky(steps));
          const bool lives = application.play(6);
          application.job.repair();
          EXPECT_TRUE(application.covered());
          EXPECT_TRUE(application.play(7));
          return !lives;
        },
        stride);
  }
}

}  // namespace fenix_test
