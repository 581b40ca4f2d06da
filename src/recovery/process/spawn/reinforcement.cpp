// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/spawn/reinforcement.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

// A process may have good reasons to die on its way: so many attempts are enough.
constexpr int kSpawnAttempts = 3;

}  // namespace

bool Reinforcement::run(MPI_Comm& living) {
  has_failed_ = false;
  if (!is_allowed_) return true;
  int missing = 0;
  if (!all_do(living, turns_, [&] { missing = count_missing(living); })) return false;
  if (missing == 0 || has_failed_) return true;
  return recruit(living, missing);
}

int Reinforcement::count_missing(MPI_Comm living) {
  struct Attempts {
    std::int32_t made = 0;
    std::int32_t overdue = 0;
  };
  const auto seats = seating_.seats_in(living);
  const Attempts mine{attempts_, is_overdue_ ? 1 : 0};
  const Attempts most = MpiTeam(living, size_of(living), living).reduce(mine, [](Attempts& into, const Attempts& from) {
    into.made = std::max(into.made, from.made);
    into.overdue = std::max(into.overdue, from.overdue);
  });
  attempts_ = most.made;
  const int missing =
      seating_.active - static_cast<int>(plan_repair(seating_.active, seating_.spares, seats).active.size());
  has_failed_ = missing > 0 && (most.overdue != 0 || attempts_ == kSpawnAttempts);
  return missing;
}

std::unique_ptr<Recruits> Reinforcement::call_recruits(Invitation& invitation) {
  try {
    auto recruits = std::make_unique<Recruits>(invitation, keys_, use_);
    check_mpi(MPI_Open_port(MPI_INFO_NULL, invitation.port.data()), "MPI_Open_port");
    invitation.welcome = 1;
    return recruits;
  } catch (const Error& error) {
    log().warn("{}", error.what());
    return nullptr;
  }
}

bool Reinforcement::recruit(MPI_Comm& living, int missing) {
  ++attempts_;
  ++spawns_;
  const bool recruiter = rank_in(living) == 0;
  const Deadline deadline;
  std::unique_ptr<Recruits> recruits;
  Invitation invitation{0, spawns_, seating_.active, seating_.spares, missing, {}};
  const bool lived = all_do(living, turns_, [&] {
    fault_point("spawn.begin");
    if (recruiter) recruits = call_recruits(invitation);
    MpiTeam(living, size_of(living), living).broadcast(std::as_writable_bytes(std::span(&invitation, 1)), 0);
    fault_point("spawn.told");
  });
  // If a recruiter was killed because it could not get out of MPI_Comm_spawn, the next one could not either.
  is_overdue_ = deadline.passed();
  if (!lived) return false;
  has_failed_ = invitation.welcome == 0;
  if (has_failed_) return true;
  return let_in(living, invitation, recruits.get());
}

bool Reinforcement::let_in(MPI_Comm& living, const Invitation& invitation, Recruits* recruits) {
  MPI_Comm joined = MPI_COMM_NULL;
  const bool lived = all_do(living, turns_, [&] {
    if (recruits != nullptr) recruits->invite(invitation);
    joined = join_with_recruits(living, invitation);
    fault_point("spawn.joined");
  });
  if (!lived) {
    // Frees the replacements that have joined and wait for the others.
    revoke(joined);
    return false;
  }
  fault_point("spawn.agreed");
  if (recruits != nullptr) confirm_to_recruits(joined, invitation);
  fault_point("spawn.confirmed");
  living = joined;
  on_joined_();
  // From here on they are spares: the spares before them have taken places of dead ranks.
  seating_.spares += invitation.recruits;
  return true;
}

}  // namespace fenix_impl
