// SPDX-License-Identifier: BSD-3-Clause
// Defining a group further: its members, its policy, and questions about attributes. Collective.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// All ranks get the error that check throws on one.
class Definition {
 public:
  using Check = std::function<void()>;

  explicit Definition(const OperationContext& context) : context_(context) {}

  Member& create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Creates the member where no rank has it. Returns null if all have it; throws Error(FENIX_ERROR_MISMATCH) if some have.
  Member* define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Returns the value that another rank brings. rank: the one to ask, which need not be the same for all; mine: the value of this one.
  std::uint64_t ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check);

 private:
  void meet_to_create(const MemberInfo& info, const Check& check);
  Member& add_member(const MemberInfo& info, const void* buffer, std::uint64_t count);
  void provide_memory(const std::unique_ptr<Member>& member);

  const OperationContext& context_;
};

}  // namespace fenix_impl
