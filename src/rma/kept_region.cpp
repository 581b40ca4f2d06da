// SPDX-License-Identifier: BSD-3-Clause
#include "rma/kept_region.hpp"

#include <unistd.h>

#include <utility>

namespace fenix_impl {

KeptRegion::KeptRegion(int owner, const RegionAddress& address)
    : owner_(owner), process_(address.pid), here_(address), file_(open_region(address)) {
  here_.fd = file_.get();
  here_.pid = getpid();
}

KeptRegion::KeptRegion(KeptRegion&& other) noexcept
    : owner_(std::exchange(other.owner_, -1)),
      process_(other.process_),
      here_(std::exchange(other.here_, RegionAddress{})),
      file_(std::move(other.file_)) {}

KeptRegion& KeptRegion::operator=(KeptRegion&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(process_, other.process_);
  std::swap(here_, other.here_);
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace fenix_impl
