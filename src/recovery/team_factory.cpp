// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/team_factory.hpp"

#include <new>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {

TeamFactory::NewTeam TeamFactory::make(MPI_Comm comm) {
  bool met = false;
  try {
    // Making a communicator has no deadline: make sure first that all ranks have come.
    NewTeam made{nullptr, process_.ranks_of(comm)};
    auto near = process_.are_near(made.ranks);
    process_.meet(made.ranks);
    met = true;
    made.team = std::make_shared<MpiTeam>(comm, process_.resilient(), process_.watch(), std::move(near));
    return made;
  } catch (const std::bad_alloc&) {
    withdraw_from(comm, met);
    throw Error(out_of_memory());
  }
}

void TeamFactory::withdraw_from(MPI_Comm comm, bool met) noexcept {
  try {
    if (!met) process_.meet(process_.ranks_of(comm));
    MpiTeam(comm, process_.resilient(), process_.watch()).withdraw();
  } catch (const std::exception&) {
    return;  // a death, or no memory again: the others know
  }
}

}  // namespace fenix_impl
