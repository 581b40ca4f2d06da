// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/member_buffer.hpp"

#include <cstring>
#include <limits>

#include "base/error.hpp"

namespace fenix_impl {

Region MemberBuffer::grown(std::uint64_t bytes) const {
  if (is_there() && bytes <= this->bytes()) return {};
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * kOffset) throw Error(out_of_memory());
  const std::size_t all = to_pages(kOffset + bytes);
  Region region(all - Region::kHeaderBytes);
  region.reserve(kOffset, all - kOffset);
  if (is_there()) std::memcpy(region.bytes().data() + kOffset, data(), this->bytes());
  return region;
}

void MemberBuffer::replace(Region grown) {
  if (grown.bytes().empty()) return;
  hide();
  region_ = std::move(grown);
}

bool MemberBuffer::take_over(Region region, std::uint64_t bytes) {
  const std::size_t there = region.bytes().size();
  if (there < kOffset || there - kOffset < bytes) return false;
  region_ = std::move(region);
  return true;
}

}  // namespace fenix_impl
