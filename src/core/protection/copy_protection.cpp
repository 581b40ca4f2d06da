// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/copy_protection.hpp"

#include <algorithm>

#include "core/protection/mending.hpp"

namespace fenix_impl {

CopyProtection::CopyProtection(const ProtectionContext& context) : Protection(context) {
  if (context_.placement.copies() == 0) return;
  holder_ = context_.placement.holder(context_.rank, 0);
  owner_ = context_.placement.kept(context_.rank, 0);
}

std::uint64_t CopyProtection::held_bytes(const Member& member, const Counts& counts) const {
  return owner_ ? counts.at(*owner_) * member.element_bytes() : 0;
}

std::vector<int> CopyProtection::neighbours() const {
  return holder_ ? std::vector<int>{*holder_, *owner_} : std::vector<int>{};
}

void CopyProtection::prepare(const Member& member) const {
  if (!holder_) return;
  const SlotLayout& there = member.memory.layout_of(*holder_);
  member.memory.remote().expect_access(*holder_, there.held_offset(0), there.end() - there.held_offset(0));
}

std::span<std::byte> CopyProtection::mirror(const Member& member, std::uint32_t slot, std::size_t offset,
                                            std::size_t bytes) const {
  if (!holder_) return {};
  return member.memory.remote().direct(*holder_, member.memory.layout_of(*holder_).held_offset(slot) + offset, bytes);
}

void CopyProtection::put(const Member& member, std::uint32_t slot, std::size_t offset,
                         std::span<const std::byte> data) const {
  if (!holder_) return;
  member.memory.remote().put(*holder_, member.memory.layout_of(*holder_).held_offset(slot) + offset, data);
}

void CopyProtection::put_table(const Member& member, std::uint32_t slot, std::span<const std::uint64_t> table) const {
  if (!holder_) return;
  const SlotLayout& layout = member.memory.layout_of(*holder_);
  member.memory.remote().put(*holder_, layout.held_offset(slot) + layout.held_table(), std::as_bytes(table));
}

void CopyProtection::flush(const Member& member) const {
  if (holder_) member.memory.remote().flush(*holder_);
}

bool CopyProtection::is_flushed(const Member& member) const {
  return !holder_ || member.memory.remote().is_flushed(*holder_);
}

bool CopyProtection::holder_has(const Member& member, const MemberVersion& version) const {
  if (!holder_) return false;
  const SlotLayout& there = member.memory.layout_of(*holder_);
  return version.slot < there.slots() && version.bytes() <= there.held_bytes();
}

// The table is made from the data: it does not matter whether the table over there is damaged.
bool CopyProtection::take(Member& member, const MemberVersion& version, int rank, std::size_t offset,
                          const SlotView& slot) const {
  const auto data = slot.data.first(version.bytes());
  member.memory.remote().get(rank, offset, data);
  if (context_.parameters.hashing == 0) return true;
  make_table(data, version.found, version.element_bytes, slot.table);
  return hash_of_table(slot.table, data.size()) == version.hash;
}

bool CopyProtection::mend_own(Member& member, const MemberVersion& version, Epoch) {
  if (!holder_has(member, version)) return false;
  const SlotLayout& there = member.memory.layout_of(*holder_);
  const SlotView slot = member.memory.own_slot(version.slot);
  const std::size_t copy = there.held_offset(version.slot);
  std::vector<std::uint64_t> table(hash_blocks(version.bytes()));
  member.memory.remote().get(*holder_, copy + there.held_table(), std::as_writable_bytes(std::span(table)));
  if (hash_of_table(table, version.bytes()) == version.hash) std::copy(table.begin(), table.end(), slot.table.begin());
  return mend_slot(slot, version, [&](const std::function<bool(const Reader&)>& attempt) {
    return attempt([&](std::uint64_t begin, std::span<std::byte> part) {
      member.memory.remote().get(*holder_, copy + begin, part);
    });
  });
}

bool CopyProtection::mend_held(Member& member, const MemberVersion& version, Epoch) {
  if (!owner_) return false;
  const SlotLayout& there = member.memory.layout_of(*owner_);
  if (version.slot >= there.slots() || version.bytes() > there.own_bytes()) return false;
  if (version.slot >= member.memory.layout().slots() || version.bytes() > member.memory.layout().held_bytes())
    return false;
  return take(member, version, *owner_, there.own_offset(version.slot), member.memory.held_slot(version.slot));
}

bool CopyProtection::rebuild_own(Member& member, const MemberVersion& version, Epoch, const std::set<int>& missing) {
  if (!holder_has(member, version) || missing.count(*holder_) != 0) return false;
  // The memory that was taken over may be right, and the copy damaged.
  const bool hashed = context_.parameters.hashing != 0 && version.bytes() > 0;
  if (hashed && own_is_sound(context_.parameters, member, version)) return true;
  return take(member, version, *holder_, member.memory.layout_of(*holder_).held_offset(version.slot),
              member.memory.own_slot(version.slot));
}

bool CopyProtection::held_is_sound(Member& member, const MemberVersion& version, Epoch) {
  if (version.slot >= member.memory.layout().slots() || version.bytes() > member.memory.layout().held_bytes())
    return false;
  return context_.parameters.hashing == 0 ||
         verify(member.memory.held_slot(version.slot), version.found, version.element_bytes, version.hash);
}

}  // namespace fenix_impl
