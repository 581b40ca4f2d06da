// SPDX-License-Identifier: BSD-3-Clause
// A contribution to a collective operation, as another rank has stored it. A block lies in the bytes that are given.
#include "messages/journal/contribution.hpp"

#include <cstring>

#include "fuzz/support.hpp"

using namespace fenix_impl;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  BlockTarget target;
  if (size < sizeof target) return 0;
  std::memcpy(&target, data, sizeof target);
  const auto given = std::as_bytes(std::span(data, size)).subspan(sizeof target);
  // In memory of just that size: the sanitizer sees what reads beyond.
  const fuzz::Bytes bytes(given.begin(), given.end());
  const auto block = find_block(bytes, target);
  if (!block) return 0;
  fuzz::require(block->size() <= bytes.size(), "a block is no larger than the bytes");
  const std::byte* const end = bytes.data() + bytes.size();
  fuzz::require(block->data() >= bytes.data() && block->data() + block->size() <= end, "a block lies in the bytes");
  // Of its block alone a contribution can be made again.
  const BlockToStore again{target, block->size(),
                           [&](std::byte* to) { std::memcpy(to, block->data(), block->size()); }};
  fuzz::Bytes written(contribution_bytes(std::span(&again, 1)));
  write_contribution(std::span(&again, 1), written);
  const auto read = find_block(written, target);
  fuzz::require(read && std::equal(read->begin(), read->end(), block->begin(), block->end()),
                "a block that was written is read again");
  return 0;
}
