// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/slots.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "rma/mpi_errors.hpp"

namespace fenix_impl {
namespace {

void free_group(MPI_Group& group) {
  if (group != MPI_GROUP_EMPTY && group != MPI_GROUP_NULL) MPI_Group_free(&group);
  group = MPI_GROUP_EMPTY;
}

int size_of_group(MPI_Group group) {
  int size = 0;
  MPI_Group_size(group, &size);
  return size;
}

MPI_Group first_of(MPI_Comm world, int number) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group first = MPI_GROUP_EMPTY;
  check_mpi(MPI_Comm_group(world, &all), "MPI_Comm_group");
  int range[1][3] = {{0, number - 1, 1}};
  if (number > 0) MPI_Group_range_incl(all, 1, range, &first);
  MPI_Group_free(&all);
  return first;
}

}  // namespace

RankSlots::~RankSlots() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  free_group(ranks_);
  free_group(all_so_far_);
}

void RankSlots::begin(int ranks) {
  by_rank_.resize(static_cast<std::size_t>(ranks));
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  number_ = ranks;
}

void RankSlots::take(const std::vector<int>& slots, int number) {
  by_rank_ = slots;
  number_ = number;
}

void RankSlots::renumber(const std::vector<int>& former, MPI_Comm world) {
  std::vector<int> slots;
  for (const int rank : former) slots.push_back(by_rank_.at(static_cast<std::size_t>(rank)));
  by_rank_ = std::move(slots);
  free_group(ranks_);
  ranks_ = first_of(world, static_cast<int>(by_rank_.size()));
  remember(ranks_);
}

void RankSlots::remember(MPI_Group ranks) {
  const auto known = find(ranks, all_so_far_);
  for (std::size_t i = 0; i < known.size(); ++i) {
    // A union appends the processes that are new, in their order.
    if (known[i] == MPI_UNDEFINED) slots_so_far_.push_back(by_rank_[i]);
  }
  MPI_Group both = MPI_GROUP_EMPTY;
  MPI_Group_union(all_so_far_, ranks, &both);
  free_group(all_so_far_);
  all_so_far_ = both;
}

std::vector<int> RankSlots::find(MPI_Group members, MPI_Group in) {
  std::vector<int> numbers(static_cast<std::size_t>(size_of_group(members)));
  std::vector<int> found(numbers.size(), MPI_UNDEFINED);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (!numbers.empty()) {
    MPI_Group_translate_ranks(members, static_cast<int>(numbers.size()), numbers.data(), in, found.data());
  }
  return found;
}

int RankSlots::rank_of(int slot) const {
  const auto found = std::find(by_rank_.begin(), by_rank_.end(), slot);
  return found == by_rank_.end() ? MPI_UNDEFINED : static_cast<int>(found - by_rank_.begin());
}

MPI_Group RankSlots::repair(MPI_Group group) const {
  // The first members of this group are the ranks that there are now.
  MPI_Group candidates = MPI_GROUP_EMPTY;
  MPI_Group_union(ranks_, group, &candidates);
  const auto so_far = find(group, all_so_far_);
  const auto own = find(group, candidates);
  std::vector<int> chosen;
  std::vector<bool> taken(static_cast<std::size_t>(size_of_group(candidates)));
  for (std::size_t i = 0; i < so_far.size(); ++i) {
    const bool has_slot = so_far[i] != MPI_UNDEFINED;
    const int number = has_slot ? rank_of(slots_so_far_[static_cast<std::size_t>(so_far[i])]) : own[i];
    if (number == MPI_UNDEFINED || taken[static_cast<std::size_t>(number)]) continue;
    taken[static_cast<std::size_t>(number)] = true;
    chosen.push_back(number);
  }
  MPI_Group result = MPI_GROUP_EMPTY;
  MPI_Group_incl(candidates, static_cast<int>(chosen.size()), chosen.data(), &result);
  free_group(candidates);
  return result;
}

}  // namespace fenix_impl
