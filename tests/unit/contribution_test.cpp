// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/contribution.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fenix_impl {
namespace {

BlockToStore contributed(BlockTarget target, const std::string& text) {
  return {target, text.size(), [text](std::byte* to) { std::memcpy(to, text.data(), text.size()); }};
}

std::vector<std::byte> written(const std::vector<BlockToStore>& blocks) {
  std::vector<std::byte> bytes(contribution_bytes(blocks));
  write_contribution(blocks, bytes);
  return bytes;
}

std::string text_of(const std::vector<std::byte>& contribution, BlockTarget target) {
  const auto block = find_block(contribution, target);
  if (!block) return "none";
  return {reinterpret_cast<const char*>(block->data()), block->size()};
}

TEST(Contribution, BlocksAreFoundByTheirTargets) {
  const auto bytes = written({contributed({3, 0}, "for three"), contributed({5, 0}, ""), contributed({3, 1}, "again"),
                              contributed({BlockTarget::kEveryRank, 0}, "for all")});
  EXPECT_EQ(text_of(bytes, {3, 0}), "for three");
  EXPECT_EQ(text_of(bytes, {3, 1}), "again");
  EXPECT_EQ(text_of(bytes, {5, 0}), "");
  EXPECT_EQ(text_of(bytes, {}), "for all");
  EXPECT_EQ(text_of(bytes, {4, 0}), "none");
  EXPECT_EQ(text_of(bytes, {5, 1}), "none");
}

TEST(Contribution, NoBlocksAreAContributionToo) {
  const auto bytes = written({});
  EXPECT_EQ(bytes.size(), 8U);
  EXPECT_EQ(text_of(bytes, {}), "none");
}

TEST(Contribution, BytesThatAreNoneHaveNoBlocks) {
  const auto whole = written({contributed({1, 0}, "one"), contributed({2, 0}, "two")});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(text_of(part, {2, 0}), "none") << bytes;
  }
  // More lines than there are bytes, and a block that ends before it begins.
  auto wrong = whole;
  const std::uint64_t lines = std::uint64_t{1} << 60;
  std::memcpy(wrong.data(), &lines, sizeof lines);
  EXPECT_EQ(text_of(wrong, {2, 0}), "none");
  wrong = whole;
  const std::uint64_t end = 1;
  std::memcpy(wrong.data() + 8 + 16 + 8, &end, sizeof end);
  EXPECT_EQ(text_of(wrong, {2, 0}), "none");
  EXPECT_EQ(text_of(wrong, {1, 0}), "one");
}

}  // namespace
}  // namespace fenix_impl
