// SPDX-License-Identifier: BSD-3-Clause
// The offers of a rank to the keeper of its node: data to write now, or when all ranks have died.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "keeper/client/connection.hpp"
#include "keeper/offer.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

/// None waits for the keeper. All that send throw Error(FENIX_ERROR_STORE).
class FlushClient {
 public:
  explicit FlushClient(KeeperConnection& connection) : connection_(connection) {}

  /// Offers the data of this rank, and returns a number for outcome(). plan: sealed; writer: of this rank. regions: of the members, in the
  /// order of the offer.
  [[nodiscard]] std::uint64_t flush(const DatasetPlan& plan, const RankOffer& offered,
                                    std::span<const SharedFile> regions);
  /// Offers the data of this rank, to be written if all ranks die and no other job takes it. An offer that has no room is left out, since
  /// the next one takes its place.
  void keep(const DatasetPlan& plan, const RankOffer& offered, std::span<const SharedFile> regions);
  /// Tells that some flushes will not get the offers that they lack.
  void abandon(const Abandoned& abandoned);
  /// Whether outcome() has not told yet how a flush has ended.
  [[nodiscard]] bool knows(std::uint64_t flush);
  /// Returns how a flush has ended, once; nullopt while it has not.
  [[nodiscard]] std::optional<FlushOutcome> outcome(std::uint64_t flush);
  /// Returns the bytes that are written of a flush that has not ended.
  [[nodiscard]] std::uint64_t written(std::uint64_t flush);

 private:
  KeeperConnection& connection_;
};

}  // namespace fenix_impl
