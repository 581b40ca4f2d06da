// SPDX-License-Identifier: BSD-3-Clause
// What to do between two looks at what a rank waits for.
#pragma once

#include <chrono>
#include <thread>

namespace fenix_impl {

/// At first nothing: with a core for each rank, what is waited for comes soon. Later it sleeps: there may be more ranks than
/// cores. It does not yield: under Linux 6.18 processes that do without end keep others from running for up to a minute
/// (tests/open_mpi/README.md).
class Backoff {
 public:
  void pause() const {
    if (Clock::now() >= end_of_spinning_) std::this_thread::sleep_for(kNap);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::microseconds kSpinning{50};
  static constexpr std::chrono::microseconds kNap{1};  // some 50 more, unless the process has another timer slack

  Clock::time_point end_of_spinning_ = Clock::now() + kSpinning;
};

}  // namespace fenix_impl
