// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/contribution.hpp"

#include <cstring>

namespace fenix_impl {
namespace {

/// A line of the table. The block begins where the one before ends.
struct Line {
  BlockTarget target;
  std::uint64_t end = 0;  ///< of the block, from the end of the table on
};
static_assert(sizeof(Line) == 16);

std::size_t table_bytes(std::size_t blocks) { return sizeof(std::uint64_t) + blocks * sizeof(Line); }

}  // namespace

std::size_t contribution_bytes(std::span<const BlockToStore> blocks) {
  std::size_t bytes = table_bytes(blocks.size());
  for (const BlockToStore& block : blocks) bytes += block.bytes;
  return bytes;
}

void write_contribution(std::span<const BlockToStore> blocks, std::span<std::byte> to) {
  const std::uint64_t count = blocks.size();
  std::memcpy(to.data(), &count, sizeof count);
  std::byte* table = to.data() + sizeof count;
  std::byte* const start = to.data() + table_bytes(blocks.size());
  Line line;
  for (const BlockToStore& block : blocks) {
    if (block.bytes > 0) block.pack(start + line.end);
    line.target = block.target;
    line.end += block.bytes;
    std::memcpy(table, &line, sizeof line);
    table += sizeof line;
  }
}

std::optional<std::span<const std::byte>> find_block(std::span<const std::byte> contribution,
                                                     const BlockTarget& target) {
  std::uint64_t count = 0;
  if (contribution.size() < sizeof count) return std::nullopt;
  std::memcpy(&count, contribution.data(), sizeof count);
  const auto rest = contribution.subspan(sizeof count);
  if (count > rest.size() / sizeof(Line)) return std::nullopt;
  const auto blocks = rest.subspan(static_cast<std::size_t>(count) * sizeof(Line));
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Line line;
    std::memcpy(&line, rest.data() + i * sizeof line, sizeof line);
    if (line.end < start || line.end > blocks.size()) return std::nullopt;
    if (line.target == target) return blocks.subspan(start, line.end - start);
    start = line.end;
  }
  return std::nullopt;
}

}  // namespace fenix_impl
