// SPDX-License-Identifier: BSD-3-Clause
#include "core/parts/snapshot_source.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/copy.hpp"
#include "core/member/slot_hashes.hpp"

namespace fenix_impl {

static_assert(Extent::kPiece % kHashBlock == 0);

MemberSource source_of(const MemberVersion& version, std::span<const std::byte> data,
                       std::span<const std::uint64_t> table, bool hashed) {
  MemberSource source{version.member_id, version.bytes(), {}};
  // The table is that of the record now. It may be overwritten before all has been read.
  std::vector<std::uint64_t> hashes;
  if (hashed) hashes.assign(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(hash_blocks(source.bytes)));
  const bool is_right = !hashed || hash_of_table(hashes, source.bytes) == version.hash;
  source.read = [=, hashes = std::move(hashes), found = version.found, element_bytes = version.element_bytes](
                    std::uint64_t offset, std::span<std::byte> to) {
    if (!is_right) return false;
    copy_bytes(to, data.subspan(offset, to.size()), Stores::cached);
    if (!hashed) return true;
    for (std::size_t at = 0; at < to.size(); at += kHashBlock) {
      const auto block = to.subspan(at, std::min<std::size_t>(kHashBlock, to.size() - at));
      const std::uint64_t begin = offset + at;
      if (hash_of_part(block, begin, found, element_bytes) != hashes[begin / kHashBlock]) return false;
    }
    return true;
  };
  return source;
}

}  // namespace fenix_impl
