// SPDX-License-Identifier: BSD-3-Clause
// Encoding of data that is in no region, as commits in place need it. Each rank of a redundancy set copies its data, part by part, to bounce
// buffers, where the others read it. It computes the hashes meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/member/snapshot_reader.hpp"
#include "core/protection/protection.hpp"
#include "core/protection/set_slots.hpp"
#include "parity/codec.hpp"

namespace fenix_impl {

/// The encoding of a redundancy set's members in one commit. The ranks work off the same list of parts; each may be ahead of the others by as
/// many parts as there are buffers.
class BouncedEncoding {
 public:
  /// step: number of the last step that the ranks of the redundancy set have taken together.
  BouncedEncoding(Control& control, std::span<const int> redundancy_set, int index, Codec& codec, std::uint64_t step);
  BouncedEncoding(const BouncedEncoding&) = delete;
  BouncedEncoding& operator=(const BouncedEncoding&) = delete;
  ~BouncedEncoding();

  /// Adds the changes of a member. changed: bytes that have changed, of any rank of the redundancy set. slots: of the ranks; only ranks and
  /// sizes count. parity: of this rank. The same changes and sizes on all ranks.
  void add(const Change& change, const Stripes& stripes, const IntervalSet& changed, std::vector<SetSlot> slots,
           std::span<std::byte> parity);
  /// Encodes all that was added. Returns the number of the last step.
  std::uint64_t run(const Wait& wait);

 private:
  class Filler;
  struct Encoded;
  /// A part of a member: so many stripes, from the first one on.
  struct Part {
    Encoded* member;
    std::uint64_t first;
    std::uint64_t stripes;
  };

  [[nodiscard]] std::size_t buffer_of(std::uint64_t part) const;
  [[nodiscard]] bool can_fill() const;
  [[nodiscard]] bool can_encode() const;
  void fill_next();
  void encode_next();

  Control& control_;
  std::span<const int> redundancy_set_;
  int index_;
  Codec& codec_;
  std::uint64_t base_;  // steps before the first one
  std::vector<std::unique_ptr<Encoded>> members_;
  std::vector<Part> parts_;
  std::uint64_t filled_ = 0;   // parts that this rank has copied
  std::uint64_t encoded_ = 0;  // parts that it has encoded
};

}  // namespace fenix_impl
