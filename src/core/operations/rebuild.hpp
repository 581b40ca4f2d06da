// SPDX-License-Identifier: BSD-3-Clause
// Rebuilding: a rank that took a dead one's place fetches what that one had. Its peers do nothing. Local.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

class Rebuild {
 public:
  explicit Rebuild(const OperationContext& context) : context_(context) {}

  /// Makes records and slots of this rank anew, from ranks that are not missing. there: slots that other ranks have made already.
  /// Returns the epochs that came out whole.
  std::vector<Epoch> rebuild_own(std::span<const CommitLog::RecordCopy> copies, const std::set<int>& missing,
                                 const std::set<MemberSlot>& there = {});
  /// Makes what this rank holds for others anew where it is missing. at_owners: by number of the copy, the epochs that the owner has
  /// committed. Returns the epochs of which all is there. All ranks must have their own part.
  std::vector<Epoch> rebuild_held(std::span<const Epoch> epochs, std::span<const CommittedEpochs> at_owners);

 private:
  bool rebuild_own_epoch(const CommitLog::RecordCopy& copy, const std::set<int>& missing,
                         const std::set<MemberSlot>& there);
  bool rebuild_held_epoch(Epoch epoch, std::uint32_t entry, int copy);

  const OperationContext& context_;
};

}  // namespace fenix_impl
