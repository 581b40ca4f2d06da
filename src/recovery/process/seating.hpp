// SPDX-License-Identifier: BSD-3-Clause
// The processes that there are: the active ones, the spares, and the seat of this one.
#pragma once

#include <mpi.h>

#include <vector>

#include "recovery/process/repair_plan.hpp"

namespace fenix_impl {

struct Seating {
  int active = 0;  ///< ranks of the resilient communicator
  int spares = 0;
  Seat own;

  [[nodiscard]] int all() const { return active + spares; }
  /// Returns the rank of a seat in the world, or in the world that the next repair starts from.
  [[nodiscard]] int number_of(const Seat& seat) const { return seat.rank >= 0 ? seat.rank : active + seat.spare; }
  [[nodiscard]] Seat seat_of(int number) const {
    return number < active ? Seat{number, -1} : Seat{-1, number - active};
  }
  /// Returns the seats of the living, by their rank in living. Collective over living, whose ranks are in the order that they had
  /// in the world.
  [[nodiscard]] std::vector<Seat> seats_in(MPI_Comm living) const;
};

}  // namespace fenix_impl
