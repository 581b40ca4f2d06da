// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/flush_job.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "keeper/verified_source.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

FlushJob::FlushJob(DatasetPlan plan, std::uint32_t writer) : plan_(std::move(plan)), writer_(writer) {
  for (std::size_t rank = 0; rank < plan_.writers.size(); ++rank) {
    if (plan_.writers[rank] == writer) ranks_.push_back(static_cast<std::int32_t>(rank));
  }
}

RankSource OfferedRank::source() const {
  RankSource source{offer.rank, offer.record, {}};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    source.members.push_back(verified_source(offer.members[i], memory[i].bytes()));
  }
  return source;
}

void FlushJob::add(RankOffer offer, std::vector<Descriptor> regions) {
  if (!std::binary_search(ranks_.begin(), ranks_.end(), offer.rank) || regions.size() != offer.members.size()) {
    throw std::runtime_error("an offer does not fit its plan");
  }
  auto offered = std::make_shared<OfferedRank>();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const MemberOffer& member = offer.members[i];
    offered->memory.emplace_back(regions[i], member.offset, member.bytes(), /*to_be_written=*/false);
  }
  offered->offer = std::move(offer);
  // The work with an earlier offer of the rank has begun.
  if (!is_submitted) offers_[offered->offer.rank] = std::move(offered);
}

void FlushJob::add_waiter(const std::shared_ptr<KeeperPeer>& peer, std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  waiters_.push_back({peer, request});
}

bool FlushJob::is_of_ranks() {
  const std::lock_guard lock(mutex_);
  return std::any_of(waiters_.begin(), waiters_.end(), [](const Waiter& each) { return !each.peer->has_gone; });
}

std::vector<RankSource> FlushJob::sources() const {
  std::vector<RankSource> sources;
  for (const auto& [rank, offered] : offers_) sources.push_back(offered->source());
  return sources;
}

void FlushJob::end(KeeperCode code, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (ended_.exchange(true)) return;
  for (const Waiter& each : waiters_) each.peer->answer({KeeperOp::flush, each.request, code, text, {}});
}

void FlushJob::tell_progress() {
  constexpr std::chrono::seconds kBetween{1};
  if (ended_ || Clock::now() - told_ < kBetween) return;
  told_ = Clock::now();
  FieldWriter body;
  body.number(written_.load());
  const std::lock_guard lock(mutex_);
  for (const Waiter& each : waiters_) {
    each.peer->tell({KeeperOp::progress, each.request, KeeperCode::done, {}, body.all()});
  }
}

}  // namespace fenix_impl
