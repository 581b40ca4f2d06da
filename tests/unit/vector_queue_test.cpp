// SPDX-License-Identifier: BSD-3-Clause
#include "base/vector_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>

namespace {

using fenix_impl::VectorQueue;

TEST(VectorQueue, HoldsWhatADequeHolds) {
  std::mt19937 random(1);
  VectorQueue<int> queue;
  std::deque<int> other;
  for (int i = 0; i < 20'000; ++i) {
    // It grows for some time, and shrinks again.
    const bool grows = other.empty() || random() % 16 < (i / 1000 % 2 == 0 ? 10 : 6);
    const auto at = static_cast<std::ptrdiff_t>(random() % (other.size() + 1));
    if (grows && random() % 4 == 0) {
      queue.insert(queue.begin() + at, i);
      other.insert(other.begin() + at, i);
    } else if (grows) {
      queue.insert(queue.end(), i);
      other.push_back(i);
    } else if (random() % 4 == 0 && at < static_cast<std::ptrdiff_t>(other.size())) {
      queue.erase(queue.begin() + at);
      other.erase(other.begin() + at);
    } else {
      queue.pop_front();
      other.pop_front();
    }
    ASSERT_EQ(queue.size(), other.size());
    ASSERT_EQ(queue.empty(), other.empty());
    ASSERT_TRUE(std::equal(queue.begin(), queue.end(), other.begin(), other.end())) << i;
    if (other.empty()) continue;
    ASSERT_EQ(queue.front(), other.front());
    ASSERT_EQ(queue.back(), other.back());
    ASSERT_EQ(queue[other.size() / 2], other[other.size() / 2]);
  }
}

}  // namespace
