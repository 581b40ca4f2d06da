// SPDX-License-Identifier: BSD-3-Clause
#include "rma/exposures.hpp"

#include <span>
#include <utility>
#include <vector>

#include "base/fault.hpp"

namespace fenix_impl {
namespace {

/// The statement of a rank, or of several, about a number that they have closed. Sent to other ranks, in ascending order.
struct Closed {
  std::uint32_t number = 0;
  std::uint32_t over = 0;  ///< 1 if transfers have ended for all of them
};

// Keeps what both have closed. A rank may be heard more than once.
void merge_closed(std::vector<Closed>& into, std::span<const Closed> from) {
  std::vector<Closed> both;
  auto theirs = from.begin();
  for (const Closed& mine : into) {
    while (theirs != from.end() && theirs->number < mine.number) ++theirs;
    if (theirs != from.end() && theirs->number == mine.number) both.push_back({mine.number, mine.over & theirs->over});
  }
  into = std::move(both);
}

}  // namespace

void Exposures::add(std::uint32_t number, const Region& region) {
  exposed_.emplace(number, Exposed{RegionHold(region), false});
}

void Exposures::close(std::uint32_t number) noexcept {
  const auto found = exposed_.find(number);
  if (found == exposed_.end() || found->second.closed) return;
  found->second.closed = true;
  ++closed_;
}

void Exposures::forget(std::uint32_t number) noexcept {
  const auto found = exposed_.find(number);
  if (found == exposed_.end()) return;
  found->second.hold.end();
  exposed_.erase(found);
}

void Exposures::give_back(Team& team, const IsOver& is_over, const std::function<void(std::uint32_t)>& drop) {
  std::vector<Closed> mine;
  mine.reserve(closed_);
  for (const auto& [number, each] : exposed_) {
    if (each.closed) mine.push_back({number, is_over(number) ? 1U : 0U});
  }
  const auto all = team.reduce_lists(std::span<const Closed>(mine), merge_closed);
  fault_point("give_back.agreed");
  for (const auto& [number, over] : all) {
    const auto found = exposed_.find(number);
    if (found == exposed_.end()) continue;
    // First: what others send from now on is refused.
    drop(number);
    if (over != 0) found->second.hold.end();
    exposed_.erase(found);
    --closed_;
  }
}

}  // namespace fenix_impl
