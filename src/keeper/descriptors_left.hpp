// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that the keeper has left: some are for files, since what is in memory could not be written otherwise.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "base/descriptor.hpp"

namespace fenix_impl {

/// Answer to a rank whose memory cannot be taken.
constexpr const char* kNoDescriptors =
    "the keeper of this node has no descriptors left: the limit of open files (ulimit -Hn) is too low";

/// Whether some of the files have descriptors that are reserved.
[[nodiscard]] inline bool takes_the_last(const std::vector<Descriptor>& files) {
  constexpr rlim_t kMostReserved = 64;
  constexpr rlim_t kPart = 4;
  rlimit limit{};
  if (files.empty() || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t reserved = std::min(kMostReserved, limit.rlim_cur / kPart);
  return std::any_of(files.begin(), files.end(), [&](const Descriptor& each) {
    return static_cast<rlim_t>(each.get()) >= limit.rlim_cur - reserved;
  });
}

}  // namespace fenix_impl
