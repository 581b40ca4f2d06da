// SPDX-License-Identifier: BSD-3-Clause
// Looking for damage that no death has caused, and mending it. Collective.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// The findings of a verification on all ranks together: versions of members, their redundancy, and records.
struct Verified {
  std::uint64_t checked = 0;
  std::uint64_t mended = 0;
  std::uint64_t lost = 0;
};

class Verification {
 public:
  explicit Verification(const OperationContext& context) : context_(context) {}

  /// Verifies all members in all snapshots with their redundancy. All ranks get to know what check throws.
  Verified run_for_all(const std::function<void()>& check);
  /// Verifies one member, about which all ranks have met.
  Verified run_for(std::int32_t member_id);

 private:
  Verified verify(std::span<Member* const> members);
  void verify_own(std::span<Member* const> members, std::span<const Epoch> epochs, Verified& counts);
  void verify_held(Member& member, std::span<const Epoch> epochs, Verified& counts);
  void verify_held_records(Verified& counts);

  const OperationContext& context_;
};

}  // namespace fenix_impl
