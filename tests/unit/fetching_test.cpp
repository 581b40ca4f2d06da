// SPDX-License-Identifier: BSD-3-Clause
// Fetching what some rank has stored: what its record says is believed as far as there is room for it.
#include "core/state/fetching.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "fuzz/two_ranks.hpp"

namespace fenix_impl {
namespace {

using fuzz::TwoRanks;

// Rank 0 has a record in its log, of elements that are all 0.
std::optional<Fetched> fetched(std::uint64_t elements) {
  TwoRanks ranks;
  const IntervalSet found(0, elements);
  const fuzz::Bytes zeros(std::min<std::uint64_t>(elements * TwoRanks::kElementBytes, kHashBlock));
  const std::array<std::uint64_t, 1> table{hash_bytes(zeros)};
  const Record record{
      {1},   {1},
      0,     0,
      0,     {1},
      false, {{1, 2, TwoRanks::kElementBytes, elements, {1}, hash_bytes(std::as_bytes(std::span(table))), found}}};
  (void)ranks.own_log(0).write_unsealed(0, record);
  ranks.own_log(0).seal(0, record.epoch);

  GroupParameters parameters;
  const Placement placement(parameters.policy, 2);
  const SlotLayout layout(TwoRanks::kSlots, TwoRanks::kSlotBytes, TwoRanks::kSlotBytes);
  std::map<int, Holdings> holdings;
  for (int rank = 0; rank < 2; ++rank) {
    const RecordLog own = ranks.own_log(rank);
    const std::vector<RecordLog> held{ranks.held_log(rank)};
    holdings.emplace(rank, holdings_of({placement, rank, own, held, layout, ranks.member(), ranks.counts()},
                                       parameters.policy, {1}));
  }
  fuzz::Regions control(ranks.control());
  fuzz::Regions data(ranks.data(layout.end()));
  return fetch_version({parameters, placement, holdings, control, data}, ranks.member().id, 0);
}

TEST(Fetching, GetsWhatFillsASlot) {
  const auto result = fetched(TwoRanks::kSlotBytes / TwoRanks::kElementBytes);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->data, fuzz::Bytes(TwoRanks::kSlotBytes));
}

TEST(Fetching, TakesNoMemoryForMoreThanASlotHas) {
  for (const std::uint64_t elements : {TwoRanks::kSlotBytes / TwoRanks::kElementBytes + 1, std::uint64_t{1} << 60}) {
    EXPECT_FALSE(fetched(elements)) << elements;
  }
}

}  // namespace
}  // namespace fenix_impl
