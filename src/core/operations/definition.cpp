// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/definition.hpp"

#include <memory>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {
namespace {

// Answers of a rank about a member that is to be defined.
constexpr std::uint64_t kIsKnown = 1;
constexpr std::uint64_t kNotKnown = 2;

}  // namespace

void Definition::meet_to_create(const MemberInfo& info, const Check& check) {
  // These must be the same on all ranks; a type that is no good is found by check.
  const std::uint64_t type = info.type ? info.type->hash() : 0;
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(info.id), type, info.allocated ? 1U : 0U};
  const Path& path = context_.attachment.path();
  const std::uint64_t kept = path.has_kept_memory() ? 1 : 0;
  const auto all =
      meet(context_.team(), Operation::member_create, hash_bytes(std::as_bytes(std::span(same_on_all))), kept, [&] {
        check();
        if (context_.members.find(info.id) != nullptr) {
          throw Error(FENIX_ERROR_MEMBER_EXISTS, name_of_member(info.id) + " exists in the group");
        }
        if (record_bytes(context_.members.size() + 1, context_.members.size() + 1) >
            context_.log.memory().entry_bytes()) {
          throw Error(FENIX_ERROR_NO_MEMORY, "the group has as many members as a record can describe");
        }
      });
  // Gives back the memory of members that all have deleted, before that of the new one is taken.
  if (all.least != 0) context_.attachment.path().give_back(context_.team());
}

Member& Definition::create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  return together(context_.team(), [&]() -> Member& {
    meet_to_create(info, check);
    return add_member(info, buffer, count);
  });
}

Member* Definition::define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  const Member* known = context_.members.find(info.id);
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(info.id), info.type ? info.type->hash() : 0};
  const auto said = together(context_.team(), [&] {
    return meet(context_.team(), Operation::member_define, hash_bytes(std::as_bytes(std::span(same_on_all))),
                known != nullptr ? kIsKnown : kNotKnown, check);
  });
  if (said.bits == kIsKnown) return nullptr;
  if ((said.bits & kIsKnown) != 0) {
    throw Error(FENIX_ERROR_MISMATCH, name_of_member(info.id) + " exists on some ranks and not on others");
  }
  return &create_member(info, buffer, count, [] {});
}

Member& Definition::add_member(const MemberInfo& info, const void* buffer, std::uint64_t count) {
  // The thread of asynchronous stores looks at the control region, which is about to get memory.
  for (const auto& known : context_.members) (void)context_.requests.access(*known);
  auto member = std::make_unique<Member>(info, buffer, count);
  // A size that may change is the same constant on all ranks, one that may not is 0 on some at most.
  member->set_resizeable(context_.team().all_of(count == FENIX_RESIZEABLE));
  if (info.allocated && member->info().resizeable) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "count is 0 on all ranks: memory cannot be had for a size that may change");
  }
  const bool is_in_use = context_.members.has_orphaned_buffer(info.id);
  try {
    provide_memory(member);
  } catch (...) {
    if (is_in_use) context_.members.forget(*member);
    throw;
  }
  return context_.members.add(std::move(member));
}

void Definition::provide_memory(const std::unique_ptr<Member>& member) {
  learn_counts(context_, std::span(&member, 1));
  member->set_created_after(context_.log.last());
  (void)meet(context_.team(), Operation::memory, 0, 0, [&] {
    const std::size_t members = context_.members.size() + 1;
    context_.control().reserve_records(record_bytes(members, members));
    take_member_memory(context_, *member);
    context_.members.reserve_one();
  });
  fault_point("member.memory");
  member->memory.adopt(expose_member(context_, *member, member->memory.region(), member->memory.layout()));
  expose_buffer(context_, *member);
  prepare_member(context_, *member);
}

std::uint64_t Definition::ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check) {
  return together(context_.team(), [&] {
    (void)meet(context_.team(), Operation::ask_rank, same_on_all, 0, check);
    context_.control().state(mine);
    context_.team().barrier();
    // The target has to stay in the call: with MPI windows, some reads make progress only while the target is inside MPI.
    std::uint64_t said = 0;
    (void)meet(context_.team(), Operation::ask_rank, 0, 0,
               [&] { said = context_.control().statement_of<std::uint64_t>(rank); });
    return said;
  });
}

}  // namespace fenix_impl
