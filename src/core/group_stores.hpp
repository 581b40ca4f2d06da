// SPDX-License-Identifier: BSD-3-Clause
// The stores to a group, each with the agreement on sizes that it may need before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/member/selection.hpp"
#include "core/operations/commit.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

class GroupStores {
 public:
  /// Throws an Error; in collective calls all ranks get to know it.
  using Check = std::function<void()>;

  GroupStores(const OperationContext& context, CommitOperation& commit) : context_(context), commit_(commit) {}

  /// Collective; see Fenix_Data_member_store for when it synchronises: then all ranks get to know what check throws.
  void store(std::span<Member* const> members, const Selection& selection, const Check& check = {});
  /// Does the same before a commit of all ranks: if this rank alone fails, those that would wait for its commit get an error there.
  void store_to_commit(std::span<Member* const> members, const Selection& selection, const Check& check);
  /// Returns earlier than store(): protection goes on until the request is finished.
  std::shared_ptr<Request> store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                std::uint64_t request_id, const Check& check = {});

 private:
  bool agree_if_needed(std::span<Member* const> members, const Selection& selection, const Check& check);
  void check_storable(std::span<Member* const> members, const Selection& selection, const Check& check);
  void begin(std::span<Member* const> members, const Selection& selection, const Check& check);

  const OperationContext& context_;
  CommitOperation& commit_;
};

}  // namespace fenix_impl
