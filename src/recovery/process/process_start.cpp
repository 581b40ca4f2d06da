// SPDX-License-Identifier: BSD-3-Clause
// The start of a process: with all others in Fenix_Init, or as a replacement in a repair.
#include <mpi-ext.h>

#include <csignal>
#include <exception>
#include <optional>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/process.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

void Process::start(MPI_Comm comm, int spares, const ErrorHandlers& handlers,
                    const std::function<void(MPI_Comm)>& check) {
  handlers_ = handlers;
  seating_ = {size_of(comm) - spares, spares, {}};
  seating_.own = seating_.seat_of(rank_in(comm));
  node_.note_joined();
  for (MPI_Comm from = comm;;) {
    MPI_Comm living = MPI_COMM_NULL;
    const int mpi_error = MPIX_Comm_shrink(from, &living);
    if (mpi_error == MPI_SUCCESS && try_start(living, check)) return;
    if (mpi_error != MPI_SUCCESS && !is_failure(mpi_error)) check_mpi(mpi_error, "MPIX_Comm_shrink");
    log().info("a rank died in Fenix_Init: starting without it");
    if (living != MPI_COMM_NULL) from = living;
  }
}

// All begin, or none does; later deaths are repaired.
bool Process::try_start(MPI_Comm living, const std::function<void(MPI_Comm)>& check) {
  constexpr int kBuilt = 1;
  constexpr int kNotRefused = 2;
  MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  // From the exchange of addresses on, which build() begins with, a rank that is stopped is killed.
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::any);
  std::optional<Error> refusal;
  Rebuilt rebuilt;
  int answer = kBuilt | kNotRefused;
  bool checked = false;
  try {
    check(living);
    checked = true;
    slots_.begin(seating_.active);
    roles_.assign(static_cast<std::size_t>(seating_.active), FENIX_ROLE_INITIAL_RANK);
    build(living, rebuilt, Occasion::start);
  } catch (const PeerFailure&) {
    answer = kNotRefused;
  } catch (const MpiError& error) {
    answer = comes_to_know_failure(living) ? kNotRefused : 0;
    if (answer == 0) refusal = error;
  } catch (const Error& error) {
    answer = 0;
    refusal = error;
  } catch (const std::exception& error) {
    answer = 0;
    refusal = Error(FENIX_ERROR_NO_MEMORY, error.what());
  }
  // The others must not wait for this rank. What check refuses, it refuses on all of them.
  if (answer != (kBuilt | kNotRefused) && (checked || !refusal)) {
    revoke(living);
    revoke(rebuilt.world);
  }
  const LastResort resort(kTimeoutsOfARound);
  fault_point("init.end");
  MPIX_Comm_agree(living, &answer);
  if (refusal) throw Error(*refusal);
  if ((answer & kNotRefused) == 0) throw Error(FENIX_ERROR_NOCATEGORY, "Fenix_Init failed on another rank");
  if ((answer & kBuilt) == 0) return false;
  // living is not freed: messages of it may still be under way, and its number would go to the next communicator.
  adopt_communicators(rebuilt, Occasion::start);
  roles_.assign(roles_.size(), FENIX_ROLE_INITIAL_RANK);
  if (!is_spare()) role_ = FENIX_ROLE_INITIAL_RANK;
  return true;
}

bool Process::start_as_replacement(const ErrorHandlers& handlers) {
  noticed_ = MPI_Wtime();
  handlers_ = handlers;
  const Invitation invitation = report_to_recruiter();
  if (invitation.welcome == 0) return false;
  MPI_Comm joined = MPI_COMM_NULL;
  try {
    joined = join_as_recruit(invitation);
    fault_point("recruit.joined");
    wait_for_confirmation(joined);
  } catch (const std::exception& error) {
    log().info("a replacement that could not join: {}", error.what());
    // The others may wait for this process, or believe that it has joined: they must see that it has not.
    raise(SIGKILL);
  }
  fault_point("recruit.confirmed");
  reinforcement_.set_spawns(invitation.spawn);
  reinforcement_.allow(true);
  roles_.assign(static_cast<std::size_t>(invitation.ranks), FENIX_ROLE_SURVIVOR_RANK);
  role_ = FENIX_ROLE_SPARE_RANK;
  seating_ = {
      invitation.ranks, invitation.spares + invitation.recruits, {-1, invitation.spares + rank_in(MPI_COMM_WORLD)}};
  node_.note_joined();
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  if (build_and_adopt(joined)) return true;
  world_ = joined;
  rebuild_communicators();
  return true;
}

}  // namespace fenix_impl
