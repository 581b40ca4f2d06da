// SPDX-License-Identifier: BSD-3-Clause
// A commit in place of which this rank does not know yet whether it is decided. Stored data is still in the application's buffers;
// the own copies have the snapshot before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/member/members.hpp"

namespace fenix_impl {

class PendingCommit {
 public:
  /// members must outlive it.
  explicit PendingCommit(const Members& members) : members_(members) {}
  PendingCommit(const PendingCommit&) = delete;
  PendingCommit& operator=(const PendingCommit&) = delete;

  /// Returns the epoch of the commit; none if none is pending.
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  /// Returns the entry of its record in the log.
  [[nodiscard]] std::uint32_t entry() const { return entry_; }

  /// Takes the memory for a member of which something was stored. blocks: hashes of its new version. Called for each such member, and
  /// then begin().
  void prepare(const MemberAccess& access, std::uint64_t blocks);
  /// Takes over what was stored in the members: the record may be sealed from here on.
  void begin(Epoch epoch, std::uint32_t entry) noexcept;
  /// Overwrites the own copies: the commit is decided. Local; takes no memory. at_half: called in the middle.
  void copy(void (*at_half)());
  /// Copies what is in buffers of the application, which gets control before the commit is decided. Without memory for that, the
  /// buffers must stay as they are.
  void keep_buffers();
  /// Forgets the commit.
  void drop() noexcept;

 private:
  /// Stored data of a member.
  struct Part {
    WorkingSlot* slot = nullptr;  // until begin()
    const Member* member = nullptr;
    std::int32_t member_id = 0;
    std::uint64_t blocks = 0;  // hashes in the table
    std::vector<StoredFrom> sources;
    std::vector<std::uint64_t> table;
    Spill spill;
  };

  [[nodiscard]] std::span<Part> parts() { return std::span(parts_).first(used_); }
  [[nodiscard]] std::uint64_t bytes_left() const;
  void copy_part(const Part& part, std::uint64_t half, std::uint64_t& done, void (*at_half)()) const;

  const Members& members_;
  Epoch epoch_;
  std::uint32_t entry_ = 0;
  std::vector<Part> parts_;  // more than are used: a commit is to do without allocations
  std::size_t used_ = 0;
};

}  // namespace fenix_impl
