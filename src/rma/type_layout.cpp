// SPDX-License-Identifier: BSD-3-Clause
#include "rma/type_layout.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {

void TypeLayout::add_block(std::ptrdiff_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  bytes_ += bytes;
  if (!loops_.empty()) {
    Loop& last = loops_.back();
    if (is_block(last) && last.offset + static_cast<std::ptrdiff_t>(last.bytes) == offset) {
      last.bytes += bytes;
      return;
    }
  }
  loops_.push_back({offset, 1, 0, bytes, nullptr});
}

void TypeLayout::add(std::ptrdiff_t offset, std::uint64_t count, std::ptrdiff_t stride, const SharedLayout& inner) {
  if (count == 0 || inner->bytes_ == 0) return;
  if (inner->loops_.size() == 1 && is_block(inner->loops_.front())) {
    const Loop& block = inner->loops_.front();
    if (count == 1 || stride == static_cast<std::ptrdiff_t>(block.bytes)) {
      return add_block(offset + block.offset, count * block.bytes);
    }
    loops_.push_back({offset + block.offset, count, stride, block.bytes, nullptr});
  } else {
    loops_.push_back({offset, count, stride, 0, inner});
  }
  bytes_ += count * inner->bytes_;
}

SharedLayout named_layout(std::uint64_t bytes, std::uint64_t extent) {
  if (bytes == extent || bytes <= sizeof(int)) return std::make_shared<TypeLayout>(bytes);
  const std::uint64_t value = bytes - sizeof(int);
  auto pair = std::make_shared<TypeLayout>(value);
  pair->add_block(static_cast<std::ptrdiff_t>((value + alignof(int) - 1) / alignof(int) * alignof(int)), sizeof(int));
  return pair;
}

SharedLayout array_layout(std::span<const Chosen> dimensions, std::ptrdiff_t extent, SharedLayout inner) {
  if (inner->bytes() == 0) return inner;
  for (const Chosen& chosen : dimensions) {
    auto layout = std::make_shared<TypeLayout>();
    const std::int64_t elements = chosen.end - chosen.first;
    if (elements <= 0) return layout;
    const std::int64_t blocks = elements / chosen.step + (elements % chosen.step >= chosen.block ? 1 : 0);
    const std::int64_t rest = elements - blocks * chosen.step;
    auto block = std::make_shared<TypeLayout>();
    block->add(0, static_cast<std::uint64_t>(chosen.block), extent, inner);
    // From the only block, no step is taken: it may lead farther than numbers go.
    const std::int64_t stride = blocks > 1 ? chosen.step * extent : 0;
    layout->add(chosen.first * extent, static_cast<std::uint64_t>(blocks), stride, block);
    if (rest > 0) {
      const std::int64_t offset = chosen.first + blocks * chosen.step;
      layout->add(offset * extent, static_cast<std::uint64_t>(rest), extent, inner);
    }
    inner = std::move(layout);
    extent *= chosen.whole;
  }
  return inner;
}

}  // namespace fenix_impl
