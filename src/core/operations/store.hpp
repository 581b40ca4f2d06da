// SPDX-License-Identifier: BSD-3-Clause
// Storing: staged elements are protected. DESIGN.md walks through a store. Local, once the sizes are agreed on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"
#include "core/steps/part_writer.hpp"
#include "core/steps/staging.hpp"

namespace fenix_impl {

class StoreOperation {
 public:
  explicit StoreOperation(const OperationContext& context)
      : context_(context), staging_(context), writer_(context.protection(), context.parameters.commits_in_place()) {}

  /// Returns when the elements are protected.
  void run(std::span<Member* const> members, const Selection& selection);
  /// Returns when the elements are staged: protection goes on until the request is finished.
  std::shared_ptr<Request> begin(std::span<Member* const> members, const Selection& selection,
                                 std::uint64_t request_id);

 private:
  Part begin_part(Member& member, const Selection& selection, bool in_one_pass);
  Part begin_part_in_place(Member& member, const Selection& selection, bool keeps_buffer);
  void compare_with_latest(Part& part, bool compares) const;
  [[nodiscard]] IntervalSet blocks_to_hash(const Member& member, const IntervalSet& elements) const;
  void submit(const std::shared_ptr<Request>& request, std::vector<Part> parts);

  const OperationContext& context_;
  Staging staging_;
  PartWriter writer_;
};

}  // namespace fenix_impl
