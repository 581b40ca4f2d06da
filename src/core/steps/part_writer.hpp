// SPDX-License-Identifier: BSD-3-Clause
// Writing the elements of one member: the loop over pieces that copies, hashes and protects them.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/log/record.hpp"
#include "core/member/member.hpp"
#include "core/protection/protection.hpp"

namespace fenix_impl {

/// The elements of a member that a store is about. It has access to the working slot until the store has ended.
struct Part {
  explicit Part(const MemberAccess& of) : access(of) {}

  MemberAccess access;
  IntervalSet elements;
  IntervalSet blocks;  ///< to be hashed
  bool mirrored = false;
  bool hashed = false;
  const void* buffer = nullptr;  ///< the place of the elements, where commits are in place; null: the spill
  const MemberVersion* base =
      nullptr;            ///< version in the latest snapshot, to be compared with; null: everything counts as changed
  IntervalSet stale;      ///< elements in which the slot differed from the latest snapshot, before the store
  IntervalSet unchanged;  ///< elements that are as in the latest snapshot
  IntervalSet skipped;    ///< unchanged elements that the slot had already
};

class PartWriter {
 public:
  using Stop = std::atomic<bool>;

  /// in_place: whether the group commits in place.
  PartWriter(Protection& protection, bool in_place) : protection_(protection), in_place_(in_place) {}

  /// Copies from the member's buffer to the own slot and to its mirror, and hashes, in one pass: the source is read once.
  void copy_in_one_pass(Part& part) const;
  /// Makes redundant and hashes what copy_in_one_pass() has not. Returns early if stop is set.
  void protect(Part& part, const Stop& stop) const;
  /// Hashes blocks of the snapshot under construction, and notes those that are as in the latest one, where many are.
  void find_unchanged(const MemberAccess& access, const MemberVersion* base, const IntervalSet& blocks) const;
  /// Copies elements from one slot of the member to another one, and protects them there. They may be the same own slot.
  void carry_over(const Member& member, std::uint32_t from, std::uint32_t to, const IntervalSet& elements) const;
  /// Computes the hashes that stores have not computed, protects the table, and returns its hash. base: the version before, or null.
  std::uint64_t complete_table(const MemberAccess& access, const MemberVersion* base,
                               const MemberVersion& version) const;

 private:
  class Source;

  void put(const Part& part, Source& source, const Stop& stop) const;
  [[nodiscard]] std::span<std::uint64_t> table_of(const MemberAccess& access) const;

  Protection& protection_;
  bool in_place_;
};

/// Returns the blocks that lie within elements, so that nothing that comes later in the commit can change them. all: elements of
/// the member; the last block ends with them.
[[nodiscard]] IntervalSet blocks_within(const IntervalSet& elements, std::uint64_t all, std::uint32_t element_bytes);

}  // namespace fenix_impl
