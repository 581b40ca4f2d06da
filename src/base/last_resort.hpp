// SPDX-License-Identifier: BSD-3-Clause
// An end for calls that have none of their own.
#pragma once

#include <ctime>

namespace fenix_impl {

/// While one lives, the kernel kills this process when half as long again as FENIX_TIMEOUT has passed since its creation. For MPI
/// calls that nothing else can end: the other ranks can repair the death of this one, but not its silence.
class LastResort {
 public:
  LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  ~LastResort();

 private:
  timer_t timer_{};
  bool armed_ = false;
};

}  // namespace fenix_impl
