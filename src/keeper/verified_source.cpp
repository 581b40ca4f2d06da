// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/verified_source.hpp"

#include <algorithm>

#include "base/simd/copy.hpp"
#include "base/simd/slot_hashes.hpp"

namespace fenix_impl {

static_assert(Extent::kPiece % kHashBlock == 0);

MemberSource verified_source(const MemberOffer& offer, std::span<const std::byte> data) {
  MemberSource source{offer.member, offer.bytes(), {}};
  source.read = [offer, data](std::uint64_t offset, std::span<std::byte> to) {
    copy_bytes(to, data.subspan(offset, to.size()), Stores::cached);
    for (std::size_t at = 0; at < to.size(); at += kHashBlock) {
      const auto block = to.subspan(at, std::min<std::size_t>(kHashBlock, to.size() - at));
      const std::uint64_t begin = offset + at;
      if (hash_of_part(block, begin, offer.found, offer.element_bytes) != offer.hashes[begin / kHashBlock])
        return false;
    }
    return true;
  };
  return source;
}

}  // namespace fenix_impl
