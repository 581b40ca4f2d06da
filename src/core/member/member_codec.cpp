// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/member_codec.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

struct MemberHead {
  std::int32_t id = 0;
  std::uint32_t flags = 0;
  std::uint64_t created_after = 0;
  std::uint32_t plain_bytes = 0;  // bytes of a type without a description
  std::uint32_t type_bytes = 0;   // bytes of the description that follows
};

// Flags of a head.
constexpr std::uint32_t kResizeable = 1;
constexpr std::uint32_t kAllocated = 2;

}  // namespace

std::vector<std::byte> encode_members(std::span<const MemberInfo> members) {
  std::vector<std::byte> bytes;
  const auto append = [&](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  for (const MemberInfo& info : members) {
    const bool plain = info.type->handle() == MPI_DATATYPE_NULL;
    const auto type = plain ? std::vector<std::byte>{} : info.type->description();
    const std::uint32_t flags = (info.resizeable ? kResizeable : 0) | (info.allocated ? kAllocated : 0);
    const MemberHead head{info.id, flags, info.created_after.value, plain ? info.type->bytes() : 0,
                          static_cast<std::uint32_t>(type.size())};
    append(std::as_bytes(std::span(&head, 1)));
    append(type);
  }
  return bytes;
}

std::vector<MemberInfo> decode_members(std::span<const std::byte> bytes) {
  std::vector<MemberInfo> members;
  while (!bytes.empty()) {
    MemberHead head;
    if (bytes.size() < sizeof head) throw Error(FENIX_ERROR_INTERN, "a description of members is cut short");
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    if (bytes.size() < head.type_bytes || head.flags > (kResizeable | kAllocated) ||
        (head.type_bytes == 0) == (head.plain_bytes == 0)) {
      throw Error(FENIX_ERROR_INTERN, "a description of members is damaged");
    }
    auto type = head.plain_bytes > 0 ? ElementType::plain(head.plain_bytes)
                                     : ElementType::from_description(bytes.first(head.type_bytes));
    members.push_back({head.id,
                       (head.flags & kResizeable) != 0,
                       {head.created_after},
                       std::make_shared<const ElementType>(std::move(type)),
                       (head.flags & kAllocated) != 0});
    bytes = bytes.subspan(head.type_bytes);
  }
  return members;
}

}  // namespace fenix_impl
