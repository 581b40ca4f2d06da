// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/membership.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/error.hpp"
#include "recovery/process/comm_functions.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

void Membership::begin(int active, int spares, int number) {
  seating_ = {active, spares, {}};
  seating_.own = seating_.seat_of(number);
  node_.note_joined();
}

void Membership::begin_as_recruit(const Seating& seating) {
  roles_.assign(static_cast<std::size_t>(seating.active), FENIX_ROLE_SURVIVOR_RANK);
  role_ = FENIX_ROLE_SPARE_RANK;
  seating_ = seating;
  node_.note_joined();
}

void Membership::begin_slots() {
  slots_.begin(seating_.active);
  roles_.assign(static_cast<std::size_t>(seating_.active), FENIX_ROLE_INITIAL_RANK);
}

void Membership::make_initial() {
  roles_.assign(roles_.size(), FENIX_ROLE_INITIAL_RANK);
  if (!is_spare()) role_ = FENIX_ROLE_INITIAL_RANK;
}

std::vector<int> Membership::all_ranks() const {
  std::vector<int> all(static_cast<std::size_t>(seating_.active));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<bool> Membership::are_near(const std::vector<int>& ranks) const {
  std::vector<bool> near;
  for (const int rank : ranks) near.push_back(node_.includes(rank));
  return near;
}

MPI_Group Membership::group_of_spares(MPI_Comm world) const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group spares = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(world, &all), "MPI_Comm_group");
  std::vector<int> ranks(static_cast<std::size_t>(seating_.spares));
  std::iota(ranks.begin(), ranks.end(), seating_.active);
  MPI_Group_incl(all, seating_.spares, ranks.data(), &spares);
  MPI_Group_free(&all);
  return spares;
}

int Membership::waiting_spares(MPI_Comm world) const {
  const auto failed = known_failed(world);
  const auto dead_spares =
      std::count_if(failed.begin(), failed.end(), [&](int rank) { return rank >= seating_.active; });
  return seating_.spares - static_cast<int>(dead_spares);
}

// They do not know the slots. The first of the living has been there before.
void Membership::tell_slots(MPI_Comm living) {
  if (!node_.has_joined()) return;
  if (slots_.by_rank().empty()) slots_.begin(seating_.active);
  std::vector<int> told = slots_.by_rank();
  told.resize(static_cast<std::size_t>(seating_.active));
  told.push_back(slots_.number());
  check_mpi(MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_INT, 0, living), "MPI_Bcast");
  const int number = told.back();
  told.pop_back();
  slots_.take(told, number);
}

void Membership::adopt(const RepairPlan& plan, const std::vector<Seat>& seats, MPI_Comm world) {
  node_.renumber(seating_, seats, plan);
  slots_.renumber(plan.former, world);
  roles_.clear();
  for (const bool recovered : plan.recovered) {
    roles_.push_back(recovered ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK);
  }
  shrunk_ = plan.shrunk;
  const int rank = rank_in(world);
  seating_ = {static_cast<int>(roles_.size()), static_cast<int>(plan.spares.size()), {}};
  seating_.own = seating_.seat_of(rank);
  const bool active = seating_.own.rank >= 0;
  role_ = active ? roles_[static_cast<std::size_t>(rank)] : static_cast<int>(FENIX_ROLE_SPARE_RANK);
}

void Membership::restore_recovered_roles(Team& active, bool had_it) {
  const int self = active.rank();
  for (const int rank : active.gather_some(std::span<const int>(&self, had_it ? 1 : 0))) {
    roles_.at(static_cast<std::size_t>(rank)) = FENIX_ROLE_RECOVERED_RANK;
    // Otherwise the numbers before this repair are others.
    if (!shrunk_ && std::find(failed_.begin(), failed_.end(), rank) == failed_.end()) failed_.push_back(rank);
  }
  std::sort(failed_.begin(), failed_.end());
  role_ = roles_.at(static_cast<std::size_t>(self));
}

}  // namespace fenix_impl
