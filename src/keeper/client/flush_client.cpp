// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/flush_client.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fault.hpp"
#include "keeper/request_error.hpp"

namespace fenix_impl {
namespace {

// One message, if it is short: a commit that is offered must not take much longer than one that is not.
PendingOffer to_pending(KeeperOp op, const DatasetPlan& plan, const RankOffer& offer,
                        std::span<const SharedFile> regions) {
  constexpr std::size_t kShort = kMostDatagramBytes / 2;
  std::vector<std::byte> content = encode(plan);
  const std::uint64_t plan_bytes = content.size();
  const auto rest = encode(offer);
  content.insert(content.end(), rest.begin(), rest.end());
  Offered offered{plan.writers.at(static_cast<std::size_t>(offer.rank)), plan.name.text(), plan_bytes, {}};
  PendingOffer pending;
  if (content.size() <= kShort) {
    offered.content.assign(reinterpret_cast<const char*>(content.data()), content.size());
  } else {
    pending.files.push_back(std::make_shared<const Descriptor>(to_memory_file(content)));
  }
  const std::size_t before = regions.size() - std::min(regions.size(), kMostDatagramFiles - pending.files.size());
  pending.regions.assign(regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(before));
  pending.files.insert(pending.files.end(), regions.begin() + static_cast<std::ptrdiff_t>(before), regions.end());
  pending.message = {op, 0, KeeperCode::done, {}, encode_body(offered)};
  return pending;
}

}  // namespace

std::uint64_t FlushClient::flush(const DatasetPlan& plan, const RankOffer& offered,
                                 std::span<const SharedFile> regions) {
  std::uint64_t id = 0;
  try {
    PendingOffer pending = to_pending(KeeperOp::flush, plan, offered, regions);
    id = connection_.with_exchange([&](KeeperExchange& exchange) { return exchange.offer(std::move(pending)); });
  } catch (const std::system_error& error) {
    fail_request(error.what());
  }
  fault_point("flush.offered");
  return id;
}

void FlushClient::keep(const DatasetPlan& plan, const RankOffer& offered, std::span<const SharedFile> regions) {
  try {
    PendingOffer pending = to_pending(KeeperOp::keep, plan, offered, regions);
    connection_.with_exchange([&](KeeperExchange& exchange) { exchange.offer_if_room(std::move(pending)); });
  } catch (const std::system_error& error) {
    fail_request(error.what());
  }
}

void FlushClient::abandon(const Abandoned& abandoned) { connection_.tell(KeeperOp::abandon, encode_body(abandoned)); }

bool FlushClient::knows(std::uint64_t flush) {
  return connection_.with_exchange([&](KeeperExchange& exchange) { return exchange.is_pending(flush); });
}

std::optional<FlushOutcome> FlushClient::outcome(std::uint64_t flush) {
  return connection_.with_exchange([&](KeeperExchange& exchange) { return exchange.take_outcome(flush); });
}

std::uint64_t FlushClient::written(std::uint64_t flush) {
  return connection_.with_exchange([&](KeeperExchange& exchange) {
    (void)exchange.pump();
    return exchange.written(flush);
  });
}

}  // namespace fenix_impl
