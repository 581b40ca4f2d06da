// SPDX-License-Identifier: BSD-3-Clause
// The part of a member in the snapshot under construction, and what is known of the slots of older ones.
//
// Element sets only: the bytes are the member's memory. A commit takes no memory after prepare_commit().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval_set.hpp"
#include "base/kept_addresses.hpp"
#include "base/types.hpp"
#include "core/member/similarity.hpp"
#include "core/member/slot_history.hpp"

namespace fenix_impl {

/// Elements of a member in the memory from which they were stored, where commits are in place.
struct StoredFrom {
  const void* buffer = nullptr;  ///< of the application; null: the spill
  IntervalSet elements;
};

class WorkingSlot {
 public:
  // ------------------------------------------------------------------------------------------- snapshot under construction

  /// Returns the slot that was taken for it, if any.
  [[nodiscard]] const std::optional<std::uint32_t>& number() const { return number_; }
  void take(std::optional<std::uint32_t> number) { number_ = number; }
  /// Whether there was a store, if only of no element.
  [[nodiscard]] bool is_stored() const { return is_stored_; }
  /// Whether the application may write to the slot, or to the spill.
  [[nodiscard]] bool is_lent() const { return is_lent_; }
  [[nodiscard]] bool is_untouched() const { return !is_stored_ && staged_.empty(); }
  /// Elements whose protection is done, under way, or left to the commit.
  [[nodiscard]] const IntervalSet& stored() const { return stored_; }
  /// Stored elements that have the same values as in the latest snapshot, as far as that is known.
  [[nodiscard]] const IntervalSet& unchanged() const { return unchanged_; }
  void note_unchanged(const IntervalSet& elements) { unchanged_ = unchanged_ | elements; }
  /// Elements that are on this rank only.
  [[nodiscard]] const IntervalSet& staged() const { return staged_; }
  /// Elements that need not be announced again: parity has them on all ranks that can commit.
  [[nodiscard]] const IntervalSet& encoded() const { return encoded_; }
  /// Blocks whose hash is in the table.
  [[nodiscard]] const IntervalSet& hashed() const { return hashed_; }
  /// Memory that has the stored elements until the commit, where commits are in place. Each element is in one part only.
  [[nodiscard]] const std::vector<StoredFrom>& sources() const { return sources_; }
  /// Hashes of the blocks of the snapshot under construction, where commits are in place: the slot's table belongs to the latest one.
  [[nodiscard]] const std::vector<std::uint64_t>& table() const { return table_; }
  [[nodiscard]] std::vector<std::uint64_t>& table() { return table_; }
  /// Elements of a member whose size may change, as given by what was stored.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Notes that elements are, or are about to be, written to the own slot: nothing else has them.
  void note_staged(const IntervalSet& elements, std::uint32_t element_bytes);
  /// Notes that elements are about to be written to the redundancy, where commits are in place: their blocks have other hashes then.
  void note_protected(const IntervalSet& elements, std::uint32_t element_bytes);
  /// Notes that the application may write anywhere from now on, without saying where.
  void lend();
  /// Notes that any element of the slot may be written.
  void note_overwritten();
  /// Notes the elements that a member whose size may change has, when what was stored goes beyond them.
  void note_size(std::uint64_t size) { size_ = size; }
  void note_encoded(const IntervalSet& elements) { encoded_ = encoded_ | elements; }
  void note_hashed(const IntervalSet& blocks) { hashed_ = hashed_ | blocks; }
  /// Forgets the snapshot under construction.
  void reset();

  /// The state after a store that is being made: built first, as that takes memory, and swapped in when the store counts.
  struct Stored {
    bool is_stored = true;
    IntervalSet stored;
    IntervalSet staged;
    IntervalSet hashed;
    std::uint64_t size = 0;
    std::vector<StoredFrom> sources;
    IntervalSet unchanged;
    std::optional<IntervalSet> stale;  ///< of the slot, if the store has not written all of its elements
  };
  [[nodiscard]] Stored once_stored(const IntervalSet& elements, const IntervalSet& blocks) const;
  /// The same where commits are in place: the elements stay in buffer, or in the spill if it is null.
  [[nodiscard]] Stored once_stored_from(const void* buffer, const IntervalSet& elements,
                                        const IntervalSet& blocks) const;
  void swap(Stored& stored) noexcept;

  /// Whether stores should look for unchanged blocks.
  [[nodiscard]] Similarity& similarity() { return similarity_; }

  // --------------------------------------------------------------------------------------------------------------- spill

  /// Staged elements, from the first one of the member on, if the slot has no room for them.
  [[nodiscard]] const Spill& spill() const { return spills_.staged; }
  [[nodiscard]] Spill& spill() { return spills_.staged; }
  /// Bytes that are written to a file while there is something already that must not suffer if the file is refused.
  [[nodiscard]] std::optional<Spill>& draft() { return spills_.draft; }

  // ---------------------------------------------------------------------------------------------- slots of all snapshots

  [[nodiscard]] const SlotHistory& history() const { return history_; }
  [[nodiscard]] SlotHistory& history() { return history_; }
  /// Takes the memory for a commit that fills the slot.
  void prepare_commit();
  /// Notes a commit; fills: it has the slot, and does not share that of the latest snapshot. Takes no memory.
  void commit(Epoch epoch, bool fills) noexcept;

 private:
  std::optional<std::uint32_t> number_;
  Similarity similarity_;
  bool is_stored_ = false;
  bool is_lent_ = false;
  IntervalSet stored_;
  IntervalSet unchanged_;
  IntervalSet staged_;
  IntervalSet encoded_;
  IntervalSet hashed_;
  std::uint64_t size_ = 0;
  std::vector<StoredFrom> sources_;
  std::vector<std::uint64_t> table_;
  struct Spills {
    Spill staged;
    std::optional<Spill> draft;
  };
  Spills spills_;
  SlotHistory history_;
};

}  // namespace fenix_impl
