// SPDX-License-Identifier: BSD-3-Clause
// How slots and parity are made anew from those of the redundancy set.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/protection/mending.hpp"
#include "core/protection/parity_protection.hpp"
#include "core/protection/shared_decoding.hpp"

namespace fenix_impl {

SetSlots ParityProtection::slots_in(Member& member, Epoch epoch, const std::set<int>& missing, Sources sources) {
  std::vector<SetSlot> slots(redundancy_set_.size());
  for (std::size_t i = 0; i < redundancy_set_.size(); ++i) {
    const int rank = redundancy_set_[i];
    if (rank == context_.rank || missing.count(rank) != 0) continue;
    const auto record = finder_.find(*context_.control.remote, rank, context_.control.own_log, epoch);
    const MemberVersion* version = record ? version_in(*record, member) : nullptr;
    if (version == nullptr) continue;
    const SetSlot slot = slot_of(member, rank, version->slot);
    if (sources == Sources::any || is_sound_at(member, slot, *version)) slots[i] = slot;
  }
  return {member.memory.remote(), stripes_of(member, member.memory.counts()), std::move(slots)};
}

SetSlots ParityProtection::slots_in(Member& member, Epoch epoch) { return slots_in(member, epoch, std::set<int>{}); }

bool ParityProtection::decode_own(Member& member, const MemberVersion& version, SetSlots& slots, Codec& codec) const {
  const SlotView slot = member.memory.own_slot(version.slot);
  // All of the slot, not only elements with a value: it went into the parity of the others.
  slots.compute(codec, {index_, false, 0}, slot.data.first(member.bytes_of(context_.rank)), Stores::cached);
  return make_right_table(slot, version.found, version.element_bytes, version.hash) || context_.parameters.hashing == 0;
}

bool ParityProtection::mend_own(Member& member, const MemberVersion& version, Epoch epoch) {
  if (version.slot >= member.memory.layout().slots() || version.bytes() > member.bytes_of(context_.rank)) return false;
  auto slots = slots_in(member, epoch);
  return mend_slot(member.memory.own_slot(version.slot), version,
                   [&](const std::function<bool(const Reader&)>& attempt) {
                     return slots.try_ways([&](Codec& codec) {
                       return attempt([&](std::uint64_t begin, std::span<std::byte> part) {
                         slots.compute(codec, {index_, false, begin}, part, Stores::cached);
                       });
                     });
                   });
}

bool ParityProtection::rebuild_own(Member& member, const MemberVersion& version, Epoch epoch,
                                   const std::set<int>& missing) {
  if (version.slot >= member.memory.layout().slots() || version.bytes() > member.bytes_of(context_.rank)) return false;
  // It was made for another snapshot that has the same version: the table comes last. The hash of a slot without a
  // value says nothing.
  const bool hashed = context_.parameters.hashing != 0;
  if (hashed && version.bytes() > 0 && own_is_sound(context_.parameters, member, version)) return true;
  const auto there =
      std::count_if(redundancy_set_.begin(), redundancy_set_.end(), [&](int rank) { return missing.count(rank) == 0; });
  // If there are ranks to spare, damaged ones are left out: their damage would not be noticed in the parity.
  if (hashed && there > ranks() - parity_) {
    auto undamaged = slots_in(member, epoch, missing, Sources::undamaged);
    if (rebuild_from(member, version, undamaged)) return true;
  }
  auto slots = slots_in(member, epoch, missing);
  return rebuild_from(member, version, slots);
}

// Makes both from the same sources: if the data comes out wrong, the parity may be wrong, too.
bool ParityProtection::rebuild_from(Member& member, const MemberVersion& version, SetSlots& slots) const {
  const auto parity = member.memory.held_slot(version.slot).data.first(held_bytes(member, member.memory.counts()));
  return slots.try_ways([&](Codec& codec) {
    slots.compute(codec, {index_, true, 0}, parity, Stores::cached);
    return decode_own(member, version, slots, codec);
  });
}

// Whether another rank's data is as its record says.
bool ParityProtection::is_sound_at(const Member& member, const SetSlot& slot, const MemberVersion& version) const {
  const std::uint64_t bytes = version.bytes();
  if (slot.rank == SetSlot::kMissing || bytes > slot.element_bytes) return false;
  std::vector<std::uint64_t> table(hash_blocks(bytes));
  std::vector<std::byte> block(std::min(kHashBlock, bytes));
  for (std::uint64_t begin = 0; begin < bytes; begin += kHashBlock) {
    const auto part = std::span(block).first(std::min(kHashBlock, bytes - begin));
    member.memory.remote().get(slot.rank, slot.elements + begin, part);
    table[begin / kHashBlock] = hash_of_part(part, begin, version.found, version.element_bytes);
  }
  return hash_of_table(table, bytes) == version.hash;
}

bool ParityProtection::make_share(Member& member, int loser, std::uint32_t slot,
                                  std::span<const std::optional<std::uint32_t>> sources, const Share& share) {
  const auto found = std::find(redundancy_set_.begin(), redundancy_set_.end(), loser);
  const std::uint64_t parity = held_bytes(member, member.memory.counts());
  const SetSlot target = slot_of(member, loser, slot);
  const bool there = found != redundancy_set_.end() && target.rank != SetSlot::kMissing;
  if (!there || parity > member.memory.layout_of(loser).held_bytes()) return false;
  std::vector<SetSlot> slots(redundancy_set_.size());
  for (std::size_t i = 0; i < redundancy_set_.size(); ++i) {
    if (redundancy_set_[i] != loser && sources[i]) slots[i] = slot_of(member, redundancy_set_[i], *sources[i]);
  }
  SetSlots redundancy_set(member.memory.remote(), stripes_of(member, member.memory.counts()), std::move(slots));
  const LostPlace place{static_cast<int>(found - redundancy_set_.begin()), target, parity};
  return decode_share(member.memory.remote(), redundancy_set, index_, place, share);
}

bool ParityProtection::mend_held(Member& member, const MemberVersion& version, Epoch epoch) {
  if (version.slot >= member.memory.layout().slots()) return false;
  auto slots = slots_in(member, epoch);
  Codec codec(ranks(), parity_, slots.available());
  if (!codec.suffices()) return false;
  const std::uint64_t bytes = held_bytes(member, member.memory.counts());
  slots.compute(codec, {index_, true, 0}, member.memory.held_slot(version.slot).data.first(bytes), Stores::cached);
  return true;
}

bool ParityProtection::held_is_sound(Member& member, const MemberVersion& version, Epoch epoch) {
  if (parity_ == 0) return true;
  auto slots = slots_in(member, epoch);
  Codec codec(ranks(), parity_, slots.available());
  if (!codec.suffices()) return false;
  const auto parity = member.memory.held_slot(version.slot).data.first(held_bytes(member, member.memory.counts()));
  std::vector<std::byte> expected(std::min(kEncodedPiece, parity.size()));
  for (std::size_t begin = 0; begin < parity.size(); begin += kEncodedPiece) {
    const auto piece = std::span(expected).first(std::min(kEncodedPiece, parity.size() - begin));
    slots.compute(codec, {index_, true, begin}, piece, Stores::cached);
    if (std::memcmp(piece.data(), parity.data() + begin, piece.size()) != 0) return false;
  }
  return true;
}

}  // namespace fenix_impl
