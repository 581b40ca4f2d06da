// SPDX-License-Identifier: BSD-3-Clause
// An offer of a rank, as its messages have it: the data for a dataset, with the memory that has it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/descriptor.hpp"
#include "keeper/message.hpp"
#include "keeper/offer.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

struct ReceivedOffer {
  DatasetPlan plan;
  std::uint32_t writer = 0;
  RankOffer offer;
  std::vector<Descriptor> regions;
};

/// Reads it. files: of the request; regions: that have come before it. Throws std::runtime_error if it is damaged.
[[nodiscard]] ReceivedOffer read_offer(const Message& request, std::vector<Descriptor> files,
                                       std::vector<Descriptor> regions);

}  // namespace fenix_impl
