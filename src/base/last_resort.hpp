// SPDX-License-Identifier: BSD-3-Clause
// An end for calls that have none of their own.
#pragma once

#include <ctime>

namespace fenix_impl {

/// While one lives, the kernel kills this process when so many times FENIX_TIMEOUT have passed since its creation. For MPI
/// calls that nothing else can end: the other ranks can repair the death of this one, but not its silence.
class LastResort {
 public:
  explicit LastResort(double timeouts = 1.5);
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  ~LastResort();

 private:
  timer_t timer_{};
  bool armed_ = false;
};

}  // namespace fenix_impl
