// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/rank_summary.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint32_t kMostTries = 3;

/// Adds the memory of an earlier run to the summary, and whether it is to be taken.
void add_origin(RankSummary& mine, const GroupParameters& parameters, const KeptOrigin& origin, std::uint32_t tries) {
  mine.knowledge = {RankSummary::Knowledge::Kind::kept_memory, origin.run, origin.generation.value};
  if (parameters.policy.has_redundancy()) mine.flags |= RankSummary::kRedundant;
  const bool is_other = parameters.policy != mine.wanted.policy || parameters.depth != mine.wanted.depth;
  if (is_other || tries >= kMostTries) mine.flags |= RankSummary::kUnwanted;
}

void add_kept(RankSummary& mine, const Team& team, Group& group, const KeptMemory& kept) {
  const Shape& shape = group.recovery().shape();
  mine.flags = RankSummary::kSomeNew | RankSummary::kSomeKnow;
  if (kept.has_commits) mine.flags |= RankSummary::kHasSnapshots;
  if (shape.ranks != team.size()) mine.flags |= RankSummary::kSomeMoved;
  add_origin(mine, group.parameters(), kept.origin, kept.tries);
  mine.members = group.members().size() + 1;
  mine.generation = kept.origin.generation.value;
  mine.log_entries = kept.log_entries;
  mine.least = mine.most = shape;
}

}  // namespace

void RankSummary::merge(const RankSummary& other) {
  flags |= other.flags & ~static_cast<std::uint32_t>(kOfGroup);
  if (!(wanted == other.wanted)) flags |= kWantedDiffers;
  if (location != other.location) flags |= kSeveralNodes;
  if (location.domain != other.location.domain) flags |= kSeveralDomains;
  generation = std::max(generation, other.generation);
  run.merge(other.run);
  if (knowledge != other.knowledge) flags |= kSomeKnowLess;
  if (knowledge < other.knowledge) forget_group();
  if (knowledge <= other.knowledge) merge_group(other);
}

void RankSummary::merge_group(const RankSummary& other) {
  flags |= other.flags & kOfGroup;
  knowledge = other.knowledge;
  if (quality_of_source() < other.quality_of_source()) {
    source = other.source;
    members = other.members;
  }
  known_on_all = std::max(known_on_all, other.known_on_all);
  log_entries = std::max(log_entries, other.log_entries);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

void RankSummary::forget_group() {
  const RankSummary nothing;
  flags &= ~static_cast<std::uint32_t>(kOfGroup);
  knowledge = {};
  // The first rank is as good a source as any other one that knows nothing.
  source = 0;
  members = 0;
  known_on_all = {};
  log_entries = 0;
  least = nothing.least;
  most = nothing.most;
}

RankSummary summary_of(const Team& team, Group* group, const GroupParameters& wanted, const StoreRun& run) {
  RankSummary mine;
  mine.run = run;
  mine.source = team.rank();
  mine.wanted = wanted;
  mine.location = team.location();
  if (group == nullptr) {
    mine.flags = RankSummary::kSomeNew;
    return mine;
  }
  GroupRecovery recovery = group->recovery();
  if (const KeptMemory* const kept = recovery.kept_memory(); kept != nullptr) {
    add_kept(mine, team, *group, *kept);
    return mine;
  }
  const CommitLog& log = group->log();
  const GroupRanks& ranks = group->ranks();
  mine.flags = RankSummary::kSomeKnow;
  if (ranks.size != team.size() || ranks.rank != team.rank()) mine.flags |= RankSummary::kSomeMoved;
  if (recovery.awaits_store()) mine.flags |= RankSummary::kAwaitsStore;
  if (recovery.owes_loss_report()) mine.flags |= RankSummary::kOwesReport;
  if (!log.memory().own_epochs().empty()) mine.flags |= RankSummary::kHasSnapshots;
  for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
    if (!log.memory().held_epochs(copy).empty()) mine.flags |= RankSummary::kHasSnapshots;
  }
  if (recovery.archive() != nullptr) mine.flags |= RankSummary::kHasSnapshots | RankSummary::kHasArchive;
  mine.members = group->members().size() + 1;
  mine.known_on_all = recovery.known_on_all();
  mine.generation = log.generation().value;
  mine.log_entries = log.memory().entries();
  mine.least = mine.most = recovery.shape();
  mine.knowledge.kind = RankSummary::Knowledge::Kind::group;
  // Others of this run may still be without the memory that they can have: it counts as much.
  if (recovery.kept_origin()) add_origin(mine, group->parameters(), *recovery.kept_origin(), 0);
  return mine;
}

}  // namespace fenix_impl
