// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/rejoin/rank_summary.hpp"

namespace fenix_impl {

void RankSummary::merge(const RankSummary& other) {
  flags |= other.flags;
  if (!(wanted == other.wanted)) flags |= kWantedDiffers;
  if (location != other.location) flags |= kSeveralNodes;
  if (location.domain != other.location.domain) flags |= kSeveralDomains;
  if (knowledge() < other.knowledge()) {
    source = other.source;
    members = other.members;
  }
  known_on_all = std::max(known_on_all, other.known_on_all);
  generation = std::max(generation, other.generation);
  log_entries = std::max(log_entries, other.log_entries);
  run = std::max(run, other.run);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

RankSummary summary_of(const Team& team, Group* group, const GroupParameters& wanted, std::uint32_t run) {
  RankSummary mine;
  mine.run = run;
  mine.source = team.rank();
  mine.wanted = wanted;
  mine.location = team.location();
  if (group == nullptr) {
    mine.flags = RankSummary::kSomeNew;
    return mine;
  }
  GroupParts& parts = group->parts();
  const GroupRanks& ranks = group->ranks();
  mine.flags = RankSummary::kSomeKnow;
  if (ranks.size != team.size() || ranks.rank != team.rank()) mine.flags |= RankSummary::kSomeMoved;
  if (parts.awaits_store || parts.stored) mine.flags |= RankSummary::kAwaitsStore;
  if (parts.owes_loss_report) mine.flags |= RankSummary::kOwesReport;
  if (!parts.log.own_epochs().empty()) mine.flags |= RankSummary::kHasSnapshots;
  for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
    if (!parts.log.held_epochs(copy).empty()) mine.flags |= RankSummary::kHasSnapshots;
  }
  if (parts.archive && !parts.archive->empty()) mine.flags |= RankSummary::kHasSnapshots | RankSummary::kHasArchive;
  mine.members = parts.members.size() + 1;
  mine.known_on_all = parts.log.known_on_all();
  mine.generation = parts.log.generation().value;
  mine.log_entries = parts.log.entries();
  mine.least = mine.most = parts.shape;
  return mine;
}

}  // namespace fenix_impl
