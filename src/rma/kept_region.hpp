// SPDX-License-Identifier: BSD-3-Clause
// A region of another process of this node that this one keeps open: it outlives its owner.
#pragma once

#include "rma/region.hpp"

namespace fenix_impl {

class KeptRegion {
 public:
  KeptRegion() = default;
  /// Opens the region of a rank. Throws Error(FENIX_ERROR_NO_MEMORY).
  KeptRegion(int owner, const RegionAddress& address);
  KeptRegion(KeptRegion&& other) noexcept;
  KeptRegion& operator=(KeptRegion&& other) noexcept;
  KeptRegion(const KeptRegion&) = delete;
  KeptRegion& operator=(const KeptRegion&) = delete;
  ~KeptRegion() = default;

  /// The rank that owned it, in the team that it was exposed to; negative if there is none.
  [[nodiscard]] int owner() const { return owner_; }
  [[nodiscard]] int owner_process() const { return process_; }
  /// Where it can be had now: from this process.
  [[nodiscard]] RegionAddress address() const { return here_; }

 private:
  int owner_ = -1;
  int process_ = 0;
  RegionAddress here_;
  Descriptor file_;  // that here_ names
};

}  // namespace fenix_impl
