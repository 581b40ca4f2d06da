// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/bounced_encoding.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/copy.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"

namespace fenix_impl {

/// Copies parts of a member, in ascending order, and hashes them.
class BouncedEncoding::Filler {
 public:
  /// end: bytes of the member.
  Filler(const Change& change, std::uint64_t end)
      : reader_(*change.member, /*in_place=*/true), hashes_(change.hashes), end_(end) {}

  /// Copies the bytes [begin, end) to a buffer.
  void fill(std::uint64_t begin, std::uint64_t end, std::span<std::byte> to) {
    for (std::uint64_t from = begin; from < end;) {
      const std::uint64_t block = from / kHashBlock;
      const std::uint64_t stop = std::min(end, (block + 1) * kHashBlock);
      copy(block, from, reader_.bytes(from, stop - from), to.subspan(from - begin));
      from = stop;
    }
  }

 private:
  [[nodiscard]] std::uint64_t end_of(std::uint64_t block) const { return std::min(end_, (block + 1) * kHashBlock); }

  void copy(std::uint64_t block, std::uint64_t begin, std::span<const std::byte> from, std::span<std::byte> to) {
    const bool wanted = hashes_ != nullptr && hashes_->wanted.covers(block, block + 1);
    if (wanted && begin == block * kHashBlock && begin + from.size() == end_of(block)) {
      hashes_->table[block] = copy_and_hash(to, {}, from, Stores::cached);
      hashes_->done.append({block, block + 1});
      return;
    }
    std::memcpy(to.data(), from.data(), from.size());
    if (wanted) add(block, begin, to.first(from.size()));
  }

  // Adds a piece of a block, which may begin and end in other parts.
  void add(std::uint64_t block, std::uint64_t begin, std::span<const std::byte> piece) {
    if (begin == block * kHashBlock) {
      hash_.emplace();
    } else if (begin != next_) {
      hash_.reset();
    }
    next_ = begin + piece.size();
    if (!hash_) return;
    hash_->add(piece);
    if (next_ != end_of(block)) return;
    hashes_->table[block] = hash_->value();
    hashes_->done.append({block, block + 1});
    hash_.reset();
  }

  SnapshotReader reader_;
  BlockHashes* hashes_;
  std::uint64_t end_;
  std::optional<StreamingHash> hash_;  // of a block whose first pieces have been copied
  std::uint64_t next_ = 0;
};

void BouncedEncoding::encode(const Change& change, const Stripes& stripes, const IntervalSet& changed,
                             std::vector<CohortSlot> slots, std::span<std::byte> parity) {
  const std::uint64_t own_bytes = slots[static_cast<std::size_t>(index_)].element_bytes;
  const std::uint64_t stripe = stripes.unit() * static_cast<std::uint64_t>(stripes.data());
  const std::uint64_t stripe_parity = stripes.unit() * static_cast<std::uint64_t>(stripes.parity());
  const std::uint64_t at_once = std::max<std::uint64_t>(half() / stripe, 1);
  CohortSlots cohort(*control_.remote, stripes, std::move(slots));
  const bool streams = worth_streaming(parity.size() * static_cast<std::uint64_t>(stripes.data()));
  const Stores stores = streams ? Stores::streaming : Stores::cached;
  const int ranks = static_cast<int>(cohort_.size());
  Filler filler(change, own_bytes);
  for (std::uint64_t first = 0; first * stripe_parity < parity.size(); first += at_once) {
    const std::uint64_t begin = first * stripe;
    const std::uint64_t end = begin + at_once * stripe;
    if (!changed.meets(begin, end)) continue;
    ++step_;
    // The buffer was used two steps ago.
    if (step_ > before_ + 2) {
      wait_("the cohort to encode the part before",
            [&] { return control_.finished.reached_by_first(ranks).value + 2 >= step_; });
    }
    const std::size_t buffer = step_ % 2 * half();
    filler.fill(begin, std::min(end, std::max(begin, own_bytes)), control_.bounce.subspan(buffer, half()));
    fault_point("encode.filled");
    control_.announced.publish(*control_.remote, cohort_, index_, {step_});
    wait_("the cohort to copy the next part",
          [&] { return control_.announced.reached_by_first(ranks).value >= step_; });
    cohort.move_elements(control_.bounce_offset + buffer - begin);
    const std::uint64_t target = first * stripe_parity;
    const auto part = parity.subspan(target, std::min<std::uint64_t>(at_once * stripe_parity, parity.size() - target));
    cohort.compute(codec_, index_, true, target, part, stores);
    fault_point("encode.piece");
    control_.finished.publish(*control_.remote, cohort_, index_, {step_});
  }
}

}  // namespace fenix_impl
