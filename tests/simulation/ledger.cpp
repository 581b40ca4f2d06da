// SPDX-License-Identifier: BSD-3-Clause
#include "ledger.hpp"

#include <algorithm>

#include "placement.hpp"

namespace fenix_simulation {
namespace {

constexpr int kNoData = -75;  // FENIX_ERROR_NODATA_FOUND, by the pages

}  // namespace

Ledger::Ledger(const Workload& plan)
    : plan_(plan), ranks_(plan.ranks), groups_(plan.groups.size()), archives_(plan.groups.size()) {
  for (Group& group : groups_) group.committed.assign(static_cast<std::size_t>(ranks_), -1);
  for (int rank = 0; rank < ranks_; ++rank) places_[rank] = rank;
}

int Ledger::rank_of(int process) const {
  const auto found = places_.find(process);
  return found != places_.end() ? found->second : -1;
}

int Ledger::standing(const Group& group, int step) {
  for (auto found = group.older.find(step); found != group.older.end(); found = group.older.find(step)) {
    step = found->second;
  }
  return step;
}

int Ledger::least(const Group& group) {
  int on_all = group.committed.front();
  for (const int step : group.committed) on_all = std::min(on_all, step);
  return standing(group, std::max(group.on_all, on_all));
}

// All that was committed is readable by the old numbers from here on, and protected as it was. A communicator that shrinks again
// before a new commit changes nothing in that.
void Ledger::shrink(int ranks) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    Archive& archive = archives_[i];
    if (archive.ranks == 0 || group.begun >= 0) {
      archive = {ranks_, least(group), places_, group.dead, group.may_be_lost || has_shrunk_ || flips_ > 0};
    }
    group = Group();
    group.committed.assign(static_cast<std::size_t>(ranks), -1);
  }
  has_shrunk_ = true;
  ranks_ = ranks;
  places_.clear();
}

void Ledger::begin_job(int ranks, int first_process) {
  for (Group& group : groups_) {
    group = Group();
    group.committed.assign(static_cast<std::size_t>(ranks), -1);
  }
  for (Archive& archive : archives_) archive = Archive();
  ranks_ = ranks;
  has_shrunk_ = false;
  places_.clear();
  for (int rank = 0; rank < ranks; ++rank) places_[first_process + rank] = rank;
}

std::string Ledger::resumed(int process, int rank, int ranks) {
  if (ranks > ranks_) return "the communicator has grown to " + std::to_string(ranks);
  if (ranks < ranks_) shrink(ranks);
  std::erase_if(places_, [&](const auto& each) { return each.second == rank && each.first != process; });
  places_[process] = rank;
  return {};
}

std::string Ledger::read_old(int group, int rank, int step) {
  const Archive& archive = archives_.at(static_cast<std::size_t>(group));
  if (archive.may_be_lost || at(group).begun >= 0 || step >= archive.least) return {};
  return "rank " + std::to_string(rank) + " has read step " + std::to_string(step) + " of the group " +
         std::to_string(group) + " from before the communicator shrank, though step " + std::to_string(archive.least) +
         " was committed";
}

bool Ledger::is_bare(int group, int rank) const {
  const auto number = static_cast<std::size_t>(group);
  return plan_.groups.at(number).policy == Policy::local && groups_.at(number).bare.count(rank) > 0;
}

void Ledger::begins_commit(int group, int /*rank*/, int step) {
  Group& its = at(group);
  its.begun = std::max(its.begun, step);
  // After a failure a step is done again.
  its.older.erase(step);
  its.deleted.erase(step);
}

void Ledger::committed(int group, int rank, int step, bool barrier) {
  Group& its = at(group);
  its.committed.at(static_cast<std::size_t>(rank)) = step;
  its.bare.erase(rank);
  if (barrier) its.on_all = std::max(its.on_all, step);
}

std::string Ledger::created(int group, int rank, int flag) {
  const Group& its = at(group);
  if (is_bare(group, rank)) return {};
  if (flag == kNoData && !its.may_be_lost && least(its) >= 0 && (flips_ == 0 || knows_better_ >= 0)) {
    return "rank " + std::to_string(rank) + ": group " + std::to_string(group) + " says that step " +
           std::to_string(least(its)) + " is lost";
  }
  return {};
}

std::string Ledger::restored(int group, int rank, int step) {
  Group& its = at(group);
  ++restores_;
  if (step < 0 && is_bare(group, rank)) return {};
  const std::string what = "rank " + std::to_string(rank) + " has restored step " + std::to_string(step) +
                           " of group " + std::to_string(group);
  if (!its.may_be_lost && step < least(its))
    return what + ", though step " + std::to_string(least(its)) + " was committed";
  if (step > its.begun && !has_shrunk_ && !plan_.has_store()) return what + ", whose commit nobody has begun";
  const auto deleted = its.deleted.find(step);
  if (deleted != its.deleted.end() && static_cast<int>(deleted->second.size()) == ranks_)
    return what + ", which all ranks have deleted";
  its.committed.at(static_cast<std::size_t>(rank)) = step;
  return {};
}

std::string Ledger::agreed(int group, int rank, int step) {
  Group& its = at(group);
  its.whole.insert(rank);
  if (static_cast<int>(its.whole.size()) < ranks_) return {};
  // The data of all is there again, and so is its redundancy.
  its.dead.clear();
  its.whole.clear();
  its.may_be_lost = false;
  its.on_all = step;
  return {};
}

void Ledger::deletes(int group, int step, int older) { at(group).older[step] = older; }

void Ledger::deleted(int group, int rank, int step) { at(group).deleted[step].insert(rank); }

// One damaged place is mended where nothing else is missing.
bool Ledger::flipped(int process, std::string_view point) {
  ++flips_;
  knows_better_ = point == "corrupt.record" ? rank_of(process) : -1;
  const bool is_whole =
      std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.dead.empty(); });
  return flips_ == 1 && is_whole && !has_shrunk_;
}

void Ledger::died(int process) {
  const int rank = rank_of(process);
  if (rank >= 0 && rank == knows_better_) knows_better_ = -1;
  ++repairs_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    Archive& archive = archives_[i];
    group.whole.clear();
    const auto old = archive.places.find(process);
    if (old != archive.places.end()) {
      archive.dead.insert(old->second);
      if (!covers(plan_.groups[i], archive.ranks, archive.dead)) archive.may_be_lost = true;
    }
    if (rank < 0) continue;
    group.dead.insert(rank);
    group.bare.insert(rank);
    // The policy of a group that has moved to fewer ranks is not judged either.
    if (has_shrunk_ || (flips_ > 0 && knows_better_ < 0) || !covers(plan_.groups[i], ranks_, group.dead))
      group.may_be_lost = true;
  }
}

}  // namespace fenix_simulation
