// SPDX-License-Identifier: BSD-3-Clause
// Changing the policy of a group, whether it hashes or commits in place, before anything is stored. Collective.
#pragma once

#include <functional>
#include <vector>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Throws, and leaves all as it was, if data has been staged, stored or committed, or memory is short. All ranks get to know what check
/// throws.
class PolicyChange {
 public:
  using Check = std::function<void()>;

  /// parameters: those of the context, to be changed.
  PolicyChange(const OperationContext& context, GroupParameters& parameters)
      : context_(context), parameters_(parameters) {}

  void set_policy(const Policy& policy, const Check& check);
  void set_hashing(bool hashing, const Check& check);
  void set_in_place(bool in_place, const Check& check);

 private:
  /// Memory of the new policy, which replaces the old one when all ranks have it.
  struct Prepared {
    Control control;
    std::vector<Region> regions;
    std::vector<SlotLayout> layouts;
    std::vector<MemberMemory::Exposed> exposed;
  };

  void meet_to_change(std::uint64_t wanted, bool changes, const Check& check);
  void change_to(const GroupParameters& wanted);
  void prepare(Prepared& prepared);
  void put_in_place(Prepared prepared);

  const OperationContext& context_;
  GroupParameters& parameters_;
};

}  // namespace fenix_impl
