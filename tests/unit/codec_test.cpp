// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a redundancy set have lost comes back from the others, byte for byte, whatever their sizes.
#include "parity/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <random>
#include <vector>

#include "support/guarded_bytes.hpp"

namespace fenix_impl {
namespace {

using Bytes = std::vector<std::byte>;

/// The data and parity of a redundancy set.
class RedundancySet {
 public:
  RedundancySet(int parity, std::uint64_t unit, const std::vector<std::size_t>& sizes, unsigned seed)
      : stripes_(static_cast<int>(sizes.size()), parity, unit) {
    std::mt19937 random(seed);
    for (const std::size_t size : sizes) {
      auto& bytes = data_.emplace_back(size);
      for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    }
    const std::size_t bytes = stripes_.parity_bytes(*std::max_element(sizes.begin(), sizes.end()));
    Codec encoder(ranks(), parity, std::vector<bool>(sizes.size(), true));
    for (int rank = 0; rank < ranks(); ++rank) parity_.push_back(compute(encoder, rank, true, 0, bytes));
  }

  [[nodiscard]] int ranks() const { return stripes_.ranks(); }
  [[nodiscard]] const Stripes& stripes() const { return stripes_; }
  [[nodiscard]] const Bytes& data(int rank) const { return data_[index(rank)]; }
  [[nodiscard]] const Bytes& parity(int rank) const { return parity_[index(rank)]; }

  Bytes compute(Codec& codec, int rank, bool is_parity, std::uint64_t offset, std::size_t bytes) const {
    GuardedBytes target(bytes, rank % 2 == 0 ? 0 : 5);
    std::vector<Bytes> pieces(data_.size());
    const auto stores = offset % 2 == 0 ? Stores::cached : Stores::streaming;
    std::vector<std::pair<Stripes::Cell, std::size_t>> named;
    std::size_t number_read = 0;
    codec.for_each_source(stripes_, {rank, is_parity, offset}, bytes,
                          [&](const Stripes::Cell& cell, std::size_t length) { named.emplace_back(cell, length); });
    codec.compute(
        stripes_, {rank, is_parity, offset}, target.bytes(),
        [&](const Stripes::Cell& cell, std::size_t length, std::size_t source) -> const std::byte* {
          const Bytes& from = cell.is_parity ? parity_[index(cell.rank)] : data_[index(cell.rank)];
          EXPECT_LE(length, stripes_.unit());
          const auto& [expected, expected_length] = named.at(number_read++);
          EXPECT_TRUE(cell.rank == expected.rank && cell.is_parity == expected.is_parity &&
                      cell.offset == expected.offset && length == expected_length)
              << "for_each_source names another one";
          EXPECT_TRUE(cell.rank != rank || cell.is_parity != is_parity) << "from what is to be computed";
          EXPECT_TRUE(!cell.is_parity || cell.offset + length <= from.size()) << "parity that nobody has";
          auto& piece = pieces.at(source);
          piece.assign(length, std::byte{0});
          for (std::size_t i = 0; i < length && cell.offset + i < from.size(); ++i) piece[i] = from[cell.offset + i];
          return piece.data();
        },
        stores);
    EXPECT_EQ(number_read, named.size());
    EXPECT_TRUE(target.guards_unharmed());
    return {target.bytes().begin(), target.bytes().end()};
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  Stripes stripes_;
  std::vector<Bytes> data_;
  std::vector<Bytes> parity_;
};

void expect_all_back(const RedundancySet& redundancy_set, int parity) {
  const auto ranks = static_cast<std::size_t>(redundancy_set.ranks());
  for (unsigned lost = 0; lost < 1U << ranks; ++lost) {
    const auto losses = std::bitset<32>(lost).count();
    if (losses > static_cast<std::size_t>(parity) + 1) continue;
    std::vector<bool> available(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) available[rank] = (lost >> rank & 1U) == 0;
    Codec codec(redundancy_set.ranks(), parity, available);
    ASSERT_EQ(codec.suffices(), losses <= static_cast<std::size_t>(parity)) << "lost " << lost;
    if (!codec.suffices()) continue;
    for (int rank = 0; rank < redundancy_set.ranks(); ++rank) {
      if (available[static_cast<std::size_t>(rank)]) continue;
      ASSERT_EQ(redundancy_set.compute(codec, rank, false, 0, redundancy_set.data(rank).size()),
                redundancy_set.data(rank))
          << "data of " << rank << ", lost " << lost;
      ASSERT_EQ(redundancy_set.compute(codec, rank, true, 0, redundancy_set.parity(rank).size()),
                redundancy_set.parity(rank))
          << "parity of " << rank << ", lost " << lost;
    }
  }
}

template <class Check>
void for_all(Check&& check) {
  for (int ranks = 2; ranks <= 6; ++ranks) {
    for (int parity = 1; parity <= std::min(4, ranks - 1); ++parity) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << parity << " parities");
      check(ranks, parity);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Codec, BringsBackWhatWasLost) {
  constexpr std::uint64_t kUnit = 64;
  for_all([](int ranks, int parity) {
    const auto stripe = kUnit * static_cast<std::uint64_t>(ranks - parity);
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}, kUnit - 1, kUnit, kUnit + 1,
                                     stripe - 1, stripe, stripe + 1, 3 * stripe + 5}) {
      SCOPED_TRACE(testing::Message() << size << " bytes");
      expect_all_back({parity, kUnit, std::vector<std::size_t>(static_cast<std::size_t>(ranks), size), 1}, parity);
    }
  });
}

TEST(Codec, BringsBackDataOfDifferentSizes) {
  for_all([](int ranks, int parity) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      std::mt19937 random(seed);
      std::vector<std::size_t> sizes;
      for (int rank = 0; rank < ranks; ++rank) sizes.push_back(random() % 3 == 0 ? random() % 2 : random() % 700);
      expect_all_back({parity, 1 + random() % 90, sizes, seed}, parity);
    }
  });
}

TEST(Codec, HasNothingToDoWithoutData) {
  for_all([](int ranks, int parity) {
    expect_all_back({parity, 64, std::vector<std::size_t>(static_cast<std::size_t>(ranks), 0), 1}, parity);
  });
}

TEST(Codec, ComputesAnyPart) {
  for_all([](int ranks, int parity) {
    const RedundancySet redundancy_set(parity, 48, std::vector<std::size_t>(static_cast<std::size_t>(ranks), 1000), 3);
    std::vector<bool> available(static_cast<std::size_t>(ranks), true);
    available[1] = false;
    Codec codec(ranks, parity, available);
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
      for (const bool is_parity : {false, true}) {
        const Bytes& all = is_parity ? redundancy_set.parity(1) : redundancy_set.data(1);
        const std::size_t first = random() % all.size();
        const std::size_t bytes = random() % (all.size() - first);
        const auto part = redundancy_set.compute(codec, 1, is_parity, first, bytes);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
      }
    }
  });
}

// Each rank has one unit of each codeword.
TEST(Codec, TakesThePreferredRankInEachCodeword) {
  for_all([](int ranks, int parity) {
    const RedundancySet redundancy_set(parity, 48, std::vector<std::size_t>(static_cast<std::size_t>(ranks), 1000), 3);
    std::vector<bool> available(static_cast<std::size_t>(ranks), true);
    available[1] = false;
    for (int preferred = 0; preferred < ranks; ++preferred) {
      Codec codec(ranks, parity, available);
      codec.prefer(preferred);
      for (const bool is_parity : {false, true}) {
        const Bytes& all = is_parity ? redundancy_set.parity(1) : redundancy_set.data(1);
        ASSERT_EQ(redundancy_set.compute(codec, 1, is_parity, 0, all.size()), all);
        std::size_t cells = 0;
        std::size_t of_preferred = 0;
        codec.for_each_source(redundancy_set.stripes(), {1, is_parity, 0}, all.size(),
                              [&](const Stripes::Cell& cell, std::size_t) {
                                ++cells;
                                of_preferred += cell.rank == preferred ? 1 : 0;
                              });
        EXPECT_EQ(of_preferred * static_cast<std::size_t>(ranks - parity), preferred == 1 ? 0 : cells);
      }
    }
  });
}

}  // namespace
}  // namespace fenix_impl
