// SPDX-License-Identifier: BSD-3-Clause
// The memory of a member on this rank: its region, and the way to the regions of the other ranks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/simd/slot_hashes.hpp"
#include "base/types.hpp"
#include "core/member/slots.hpp"
#include "rma/path.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// Numbers of elements by rank: of this one, and of those whose partner or witness it is. Empty until they are known.
using Counts = std::map<int, std::uint64_t>;

class MemberMemory {
 public:
  /// The way to the regions of the other ranks.
  struct Exposed {
    std::unique_ptr<RemoteRegions> remote;
    std::vector<std::pair<int, SlotLayout>> peer_layouts;  ///< of the ranks that matter for protection
    SlotLayout retained_layout;                            ///< of the region that is kept open beyond its owner's death
  };

  // ------------------------------------------------------------------------------------------------------------- sizes

  /// Returns the elements that a slot has room for, by rank.
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] Counts& counts() { return counts_; }
  /// Returns the slots that some rank has at least: this one must not have fewer.
  [[nodiscard]] std::uint32_t least_slots() const { return least_slots_; }
  /// Takes over sizes that other ranks have told.
  void adopt_sizes(Counts counts, std::uint32_t slots) {
    counts_ = std::move(counts);
    least_slots_ = slots;
  }

  // ------------------------------------------------------------------------------------------------------------ region

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] const SlotLayout& layout() const { return layout_; }
  [[nodiscard]] SlotView own_slot(std::uint32_t slot) const {
    return view(layout_.own_offset(slot), layout_.own_bytes(), layout_.own_table());
  }
  [[nodiscard]] SlotView held_slot(std::uint32_t slot) const {
    return view(layout_.held_offset(slot), layout_.held_bytes(), layout_.held_table());
  }
  /// Notes in the region, where commits are in place, that the own slot is being overwritten with what was stored in an epoch, or that it
  /// has been. A rank that takes the region over has to know.
  void note_own_being_written() const { own_word().store(0, std::memory_order_seq_cst); }
  void note_own(Epoch stored_in) const { own_word().store(stored_in.value, std::memory_order_release); }
  [[nodiscard]] bool own_is(Epoch stored_in) const {
    return own_word().load(std::memory_order_acquire) == stored_in.value;
  }
  /// Whether a later commit has overwritten the own slot.
  [[nodiscard]] bool own_is_newer_than(Epoch stored_in) const {
    return own_word().load(std::memory_order_acquire) > stored_in.value;
  }
  /// Returns the bytes that the region takes up: whole pages.
  [[nodiscard]] std::uint64_t footprint() const;
  /// Whether the region is there and has room for all that fits the layout.
  [[nodiscard]] bool has_room_for(const SlotLayout& wanted) const {
    return !region_.bytes().empty() && layout_.has_room_for(wanted);
  }
  /// Returns a new region of that layout with the slots that there are. Throws Error(FENIX_ERROR_NO_MEMORY).
  [[nodiscard]] Region grown(const SlotLayout& layout) const;
  /// Puts another region in the place of the one that there is.
  void replace(Region region, const SlotLayout& layout);
  /// Touches the pages now, so that the first writes after a failure need not.
  void populate() const { region_.populate(layout_.end()); }
  /// Gives the region out, and forgets all sizes.
  Region release();

  // --------------------------------------------------------------------------------------------- the other ranks' regions

  [[nodiscard]] bool is_exposed() const { return remote_ != nullptr; }
  [[nodiscard]] RemoteRegions& remote() const { return *remote_; }
  /// Returns the layout of the region of another rank; one without slots if that is not known.
  [[nodiscard]] const SlotLayout& layout_of(int rank) const;
  [[nodiscard]] const SlotLayout& retained_layout() const { return retained_layout_; }
  void adopt(Exposed exposed) noexcept;
  /// Detaches from the other ranks' regions.
  void hide() { remote_.reset(); }

 private:
  // Behind the header of a region, in its first page.
  [[nodiscard]] static std::atomic_ref<std::uint64_t> word_of(const Region& region) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(region.bytes().data() + Region::kHeaderBytes));
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> own_word() const { return word_of(region_); }
  [[nodiscard]] SlotView view(std::size_t offset, std::uint64_t bytes, std::size_t table) const {
    const auto slot = region_.bytes().subspan(offset);
    auto* words = reinterpret_cast<std::uint64_t*>(slot.data() + table);
    return {slot.first(bytes), {words, hash_blocks(bytes)}};
  }

  Counts counts_;
  std::uint32_t least_slots_ = 0;
  Region region_;  // own slots, then the redundancy held for others
  SlotLayout layout_;
  std::vector<std::pair<int, SlotLayout>> peer_layouts_;
  SlotLayout retained_layout_;
  std::unique_ptr<RemoteRegions> remote_;
};

}  // namespace fenix_impl
