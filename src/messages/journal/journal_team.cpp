// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal_team.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/common/meeting.hpp"

namespace fenix_impl {

std::vector<int> holders_of(int rank, int ranks, const JournalParameters& parameters) {
  std::vector<int> holders;
  for (int copy = 0; copy < std::min(parameters.copies, ranks - 1); ++copy) {
    // Ranks that are a multiple of the separation apart may come back to the same one: then the next one that is free.
    auto holder = static_cast<int>((rank + std::int64_t{copy + 1} * parameters.separation) % ranks);
    while (holder == rank || std::find(holders.begin(), holders.end(), holder) != holders.end()) {
      holder = (holder + 1) % ranks;
    }
    holders.push_back(holder);
  }
  return holders;
}

void JournalTeam::attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots,
                         const Region& own) {
  rank_ = team.rank();
  slots_ = std::move(slots);
  holders_ = holders_of(rank_, team.size(), parameters_);
  std::unique_ptr<RemoteRegions> remote;
  (void)meet(team, Operation::journal_attach, parameters_.ring_bytes, 0, [&] {
    path_ = choose();
    remote = path_->expose(team, own);
    for (const int holder : holders_) remote->reach(holder);
    for (const int witness : witnesses()) remote->reach(witness);
  });
  remote_ = std::move(remote);
}

void JournalTeam::detach() {
  remote_.reset();
  path_.reset();
}

int JournalTeam::rank_of(int slot) const {
  const auto found = std::find(slots_.begin(), slots_.end(), slot);
  return found == slots_.end() ? kNoRank : static_cast<int>(found - slots_.begin());
}

std::vector<int> JournalTeam::witnesses() const {
  const auto ranks = static_cast<int>(slots_.size());
  std::vector<int> witnesses;
  for (int distance = 1; distance <= std::min(JournalLayout::kMostWitnesses, ranks - 1); ++distance) {
    witnesses.push_back((rank_ + distance) % ranks);
  }
  return witnesses;
}

}  // namespace fenix_impl
