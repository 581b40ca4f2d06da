// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/seating.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

// Seats are in the order of the living, as they were in the order of all: seats that are left out belong to the dead.
std::vector<Seat> Seating::seats_in(MPI_Comm living) const {
  MpiTeam team(living, size_of(living), living);
  const int rank = team.rank();
  const int number = number_of(own);
  std::vector<int> beside;
  if (rank > 0) beside.push_back(rank - 1);
  if (rank + 1 < team.size()) beside.push_back(rank + 1);
  const auto numbers = team.ask(beside, number);
  const int before = rank > 0 ? numbers.at(rank - 1) : -1;
  if (before >= number || before < (rank > 0 ? 0 : -1)) {
    throw Error(FENIX_ERROR_INTERN, "the living are not in the order that they had");
  }
  std::vector<int> dead;
  for (int each = before + 1; each < number; ++each) dead.push_back(each);
  for (int each = number + 1; rank + 1 == team.size() && each < all(); ++each) dead.push_back(each);
  dead = team.gather_some(std::span<const int>(dead));
  std::vector<Seat> seats;
  for (int each = 0; each < all(); ++each) {
    if (std::binary_search(dead.begin(), dead.end(), each)) continue;
    seats.push_back(seat_of(each));
  }
  if (seats.size() != static_cast<std::size_t>(team.size()) ||
      number_of(seats[static_cast<std::size_t>(rank)]) != number) {
    throw Error(FENIX_ERROR_INTERN, "the living are not in the order that they had");
  }
  return seats;
}

}  // namespace fenix_impl
