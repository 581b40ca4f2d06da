// SPDX-License-Identifier: BSD-3-Clause
// How flushes have ended that the keeper has answered: those that have failed are remembered, the latest ones of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "keeper/client/exchange.hpp"

namespace fenix_impl {

class FailedFlushes {
 public:
  using Outcome = FlushOutcome;
  static constexpr std::size_t kMostRemembered = 1024;

  void note(std::uint64_t flush, const Outcome& outcome) {
    failed_.insert_or_assign(flush, outcome);
    if (failed_.size() <= kMostRemembered) return;
    forgotten_ = std::max(forgotten_, failed_.begin()->first);
    failed_.erase(failed_.begin());
  }
  /// Returns how a flush has ended. flush: of which the keeper has nothing more to tell.
  [[nodiscard]] Outcome outcome(std::uint64_t flush) const {
    const auto known = failed_.find(flush);
    if (known != failed_.end()) return known->second;
    if (flush > forgotten_) return {};
    return {KeeperCode::failed, "it is not known any more how this flush has ended: many have failed since"};
  }
  [[nodiscard]] std::size_t size() const { return failed_.size(); }

 private:
  std::map<std::uint64_t, Outcome> failed_;
  std::uint64_t forgotten_ = 0;  ///< the latest one
};

}  // namespace fenix_impl
