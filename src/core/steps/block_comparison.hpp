// SPDX-License-Identifier: BSD-3-Clause
// Finding blocks that are stored again with the values that the latest snapshot has: by their hashes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/log/record.hpp"
#include "core/member/member.hpp"

namespace fenix_impl {

/// The comparison of a store with the latest snapshot.
class BlockComparison {
 public:
  /// Returns bytes of what is stored, which stay as they are until the next call.
  using Read = std::function<std::span<const std::byte>(std::uint64_t begin, std::uint64_t bytes)>;

  /// base: version in the latest snapshot, or null. blocks: those to be compared, all of whose bytes are stored. sends: whether
  /// changed blocks go over a network. Looks at a sample first, where it is not known that many blocks are unchanged.
  BlockComparison(const MemberAccess& access, const MemberVersion* base, const IntervalSet& blocks, bool sends,
                  const Read& read);
  BlockComparison(const BlockComparison&) = delete;
  BlockComparison& operator=(const BlockComparison&) = delete;
  /// Notes how many blocks were unchanged, for the next store.
  ~BlockComparison();

  /// Whether there is anything to compare. Otherwise all blocks count as changed.
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Whether a block with this hash is unchanged; notes it. Blocks come in ascending order. end: of the block, in bytes.
  bool is_unchanged(std::uint64_t block, std::uint64_t end, std::uint64_t hash);
  /// Notes that nothing was written for the latest block: the slot has it already.
  void note_skipped(std::uint64_t begin, std::uint64_t end) { skipped_.append({begin, end}); }
  /// Returns the elements all of whose bytes are in blocks that were unchanged; and in those that were skipped.
  [[nodiscard]] IntervalSet unchanged() const { return elements_in(unchanged_); }
  [[nodiscard]] IntervalSet skipped() const { return elements_in(skipped_); }

 private:
  [[nodiscard]] bool is_same(std::uint64_t block, std::uint64_t end, std::uint64_t hash) const;
  [[nodiscard]] bool sample_is_same(const IntervalSet& blocks, const Read& read) const;
  [[nodiscard]] bool is_worth_it(std::uint64_t same, std::uint64_t blocks) const;
  [[nodiscard]] IntervalSet elements_in(const IntervalSet& bytes) const;

  const MemberAccess& access_;
  const MemberVersion* base_;
  bool sends_;
  bool is_on_ = false;
  std::uint64_t compared_ = 0;
  std::uint64_t same_ = 0;
  IntervalSet unchanged_;  // bytes
  IntervalSet skipped_;    // bytes
};

}  // namespace fenix_impl
