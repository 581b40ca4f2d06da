// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/bounced_encoding.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/fault.hpp"
#include "base/simd/copy.hpp"
#include "base/simd/hash.hpp"

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

struct BouncedEncoding::Encoded {
  Encoded(const Change& change, const Stripes& of, std::uint64_t bytes, SetSlots others, std::span<std::byte> own)
      : filler(change, bytes), stripes(of), own_bytes(bytes), redundancy_set(std::move(others)), parity(own) {}

  [[nodiscard]] std::uint64_t stripe_bytes() const {
    return stripes.unit() * static_cast<std::uint64_t>(stripes.data());
  }
  [[nodiscard]] std::uint64_t stripe_parity() const {
    return stripes.unit() * static_cast<std::uint64_t>(stripes.parity());
  }

  Filler filler;
  Stripes stripes;
  std::uint64_t own_bytes;
  SetSlots redundancy_set;
  std::span<std::byte> parity;
};

BouncedEncoding::BouncedEncoding(Control& control, std::span<const int> redundancy_set, int index, Codec& codec,
                                 std::uint64_t step)
    : control_(control), redundancy_set_(redundancy_set), index_(index), codec_(codec), base_(step) {}

BouncedEncoding::~BouncedEncoding() = default;

void BouncedEncoding::add(const Change& change, const Stripes& stripes, const IntervalSet& changed,
                          std::vector<SetSlot> slots, std::span<std::byte> parity) {
  const std::uint64_t own_bytes = slots[static_cast<std::size_t>(index_)].element_bytes;
  SetSlots redundancy_set(*control_.remote, stripes, std::move(slots));
  Encoded& member =
      *members_.emplace_back(std::make_unique<Encoded>(change, stripes, own_bytes, std::move(redundancy_set), parity));
  const std::uint64_t all = parity.size() / member.stripe_parity();
  const std::uint64_t at_once = std::max<std::uint64_t>(control_.bounce_buffer / member.stripe_bytes(), 1);
  for (std::uint64_t first = 0; first < all; first += at_once) {
    const std::uint64_t count = std::min(at_once, all - first);
    if (!changed.meets(first * member.stripe_bytes(), (first + count) * member.stripe_bytes())) continue;
    parts_.push_back({&member, first, count});
  }
}

// Encodes as early as possible: what was copied is still in the caches.
std::uint64_t BouncedEncoding::run(const Wait& wait) {
  while (encoded_ < parts_.size()) {
    if (can_encode()) {
      encode_next();
    } else if (can_fill()) {
      fill_next();
    } else {
      wait("the cohort to encode", [this] { return can_encode() || can_fill(); });
    }
  }
  return base_ + parts_.size();
}

std::size_t BouncedEncoding::buffer_of(std::uint64_t part) const {
  return (base_ + part) % (control_.bounce.size() / control_.bounce_buffer) * control_.bounce_buffer;
}

// All have to have encoded what was in the buffer before.
bool BouncedEncoding::can_fill() const {
  if (filled_ == parts_.size()) return false;
  const std::uint64_t buffers = control_.bounce.size() / control_.bounce_buffer;
  if (filled_ < buffers) return true;
  return control_.finished.reached_by_first(static_cast<int>(redundancy_set_.size())).value + buffers > base_ + filled_;
}

bool BouncedEncoding::can_encode() const {
  if (encoded_ == filled_) return false;
  return control_.announced.reached_by_first(static_cast<int>(redundancy_set_.size())).value > base_ + encoded_;
}

void BouncedEncoding::fill_next() {
  const Part& part = parts_[filled_];
  Encoded& member = *part.member;
  const std::uint64_t begin = part.first * member.stripe_bytes();
  const std::uint64_t end = begin + part.stripes * member.stripe_bytes();
  const auto buffer = control_.bounce.subspan(buffer_of(filled_), control_.bounce_buffer);
  member.filler.fill(begin, std::min(end, std::max(begin, member.own_bytes)), buffer);
  fault_point("encode.filled");
  ++filled_;
  control_.announced.publish(*control_.remote, redundancy_set_, index_, {base_ + filled_});
}

void BouncedEncoding::encode_next() {
  const Part& part = parts_[encoded_];
  Encoded& member = *part.member;
  const auto parity = member.parity.subspan(part.first * member.stripe_parity(), part.stripes * member.stripe_parity());
  member.redundancy_set.move_elements(control_.bounce_offset + buffer_of(encoded_) -
                                      part.first * member.stripe_bytes());
  const std::uint64_t read = member.parity.size() * static_cast<std::uint64_t>(member.stripes.data());
  member.redundancy_set.compute(codec_, {index_, true, part.first * member.stripe_parity()}, parity,
                                worth_streaming(read) ? Stores::streaming : Stores::cached);
  fault_point("encode.piece");
  ++encoded_;
  control_.finished.publish(*control_.remote, redundancy_set_, index_, {base_ + encoded_});
}

}  // namespace fenix_impl
