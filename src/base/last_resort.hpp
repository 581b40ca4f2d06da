// SPDX-License-Identifier: BSD-3-Clause
// An end for calls that have none of their own.
#pragma once

#include <ctime>
#include <memory>

#include "base/deadline.hpp"
#include "base/ticker.hpp"

namespace fenix_impl {

/// While one lives, this process is killed when it has lived so many times FENIX_TIMEOUT since its creation. For MPI calls that
/// nothing else can end: the other ranks can repair the death of this one, but not its silence.
class LastResort {
 public:
  explicit LastResort(double timeouts = 1.5);
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  ~LastResort();

 private:
  void arm_timer(Deadline::Clock::duration time);

  std::unique_ptr<Ticker> ticker_;
  timer_t timer_{};
  bool armed_ = false;
};

}  // namespace fenix_impl
