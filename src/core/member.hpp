// SPDX-License-Identifier: BSD-3-Clause
// A member of a group on this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/interval_set.hpp"
#include "core/record.hpp"
#include "core/slot_file.hpp"
#include "core/slot_hashes.hpp"
#include "core/slots.hpp"
#include "rma/element_type.hpp"
#include "rma/path.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// What is the same on all ranks; sent to ranks that have to learn of the member.
struct MemberInfo {
  std::int32_t id = 0;
  bool resizeable = false;
  Epoch created_after;  ///< latest epoch then: what older records say of this id is about a member that was deleted
  std::shared_ptr<const ElementType> type;

  [[nodiscard]] std::uint32_t element_bytes() const { return type->bytes(); }
};

/// As in Fenix_Serialize_file_fn, with the context bound.
using Serializer =
    std::function<void(std::FILE*, int direction, void* buffer, std::uint64_t offset, std::uint64_t count)>;

/// A number of elements for this rank and for each of those whose partner or witness it is, by rank; empty until they are known.
using Counts = std::map<int, std::uint64_t>;

/// A member's part of the snapshot under construction.
struct Working {
  std::optional<std::uint32_t> slot;
  bool is_stored = false;        ///< there was a store, if only of no element
  bool is_lent = false;          ///< the application may write to the slot, or to spill
  IntervalSet stored;            ///< elements whose protection is done, under way, or left to the commit
  IntervalSet staged;            ///< elements that are on this rank only
  std::vector<std::byte> spill;  ///< staged elements, at their places from the first one on, if the slot has no room
  /// What is written to a file while there is something already that must not suffer if the file is refused.
  std::optional<std::vector<std::byte>> draft;
  IntervalSet encoded;     ///< elements that need not be announced again: parity has them on all ranks that can commit
  IntervalSet hashed;      ///< blocks whose hash is in the table
  std::uint64_t size = 0;  ///< of a member whose size may change: as given by what was stored

  [[nodiscard]] bool untouched() const { return !is_stored && staged.empty(); }
};

struct Member {
  MemberInfo info;
  std::uint64_t own_count = 0;   ///< elements, of this rank; 0 if the size may change
  Counts counts;                 ///< elements that a slot has room for
  const void* buffer = nullptr;  ///< source of stores; belongs to the application
  Serializer serializer;
  bool settled = false;  ///< attributes have been compared on all ranks, and the memory fits them

  Region region;                                         ///< own slots, then the redundancy held for others
  SlotLayout layout;                                     ///< of the own region
  std::uint32_t least_slots = 0;                         ///< that some rank has
  std::vector<std::pair<int, SlotLayout>> peer_layouts;  ///< of the regions of those ranks that matter for protection
  SlotLayout kept_layout;                                ///< of the region that the exposure keeps
  std::unique_ptr<Exposure> exposure;                    ///< the members' regions of all ranks
  Working working;
  std::vector<IntervalSet> stale;       ///< by slot: elements in which it may differ from the latest snapshot
  std::vector<IntervalSet> stale_next;  ///< the same after the commit that is being made
  std::vector<Epoch> slot_epochs;  ///< by slot: the last commit that it was for, if what stale says goes back to it

  std::unique_ptr<SlotFile> file;  ///< open for the application
  bool file_is_loading = false;    ///< else it is staging

  [[nodiscard]] std::uint32_t element_bytes() const { return info.element_bytes(); }
  [[nodiscard]] std::uint64_t bytes_of(int rank) const { return counts.at(rank) * element_bytes(); }
  /// Of the region of another rank; one without slots if that is not known.
  [[nodiscard]] const SlotLayout& layout_of(int rank) const;
  /// A slot may differ from any snapshot, for all that is known.
  void forget_slots();
  /// There will be so many slots, or are already.
  void add_slots(std::uint32_t slots);
  [[nodiscard]] SlotView own_slot(std::uint32_t slot) const {
    return view(layout.own_offset(slot), layout.own_bytes(), layout.own_table());
  }
  [[nodiscard]] SlotView held_slot(std::uint32_t slot) const {
    return view(layout.held_offset(slot), layout.held_bytes(), layout.held_table());
  }

 private:
  [[nodiscard]] SlotView view(std::size_t offset, std::uint64_t bytes, std::size_t table) const {
    const auto slot = region.bytes().subspan(offset);
    auto* words = reinterpret_cast<std::uint64_t*>(slot.data() + table);
    return {slot.first(bytes), {words, hash_blocks(bytes)}};
  }
};

/// The version of a member in a record; null if there is none, or it is of an earlier member with the same id.
[[nodiscard]] const MemberVersion* version_in(const Record& record, const Member& member);

}  // namespace fenix_impl
