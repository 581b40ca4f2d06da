// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/process.hpp"

#include <mpi-ext.h>

#include <csignal>
#include <exception>
#include <optional>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/spawn/spawning.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

void Process::start(MPI_Comm comm, int spares, const ErrorHandlers& handlers,
                    const std::function<void(MPI_Comm)>& check) {
  comms_.set_handlers(handlers);
  members_.begin(size_of(comm) - spares, spares, rank_in(comm));
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
  // From the exchange of addresses on, which the build begins with, a rank that is stopped is killed.
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::any);
  std::optional<Error> refusal;
  NewWorld made;
  int answer = kBuilt | kNotRefused;
  bool checked = false;
  try {
    check(living);
    checked = true;
    members_.begin_slots();
    builder_.build(living, made, WorldBuilder::Occasion::start);
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
    revoke(made.world);
  }
  const LastResort resort(Repair::kTimeoutsOfARound);
  fault_point("init.end");
  MPIX_Comm_agree(living, &answer);
  if (refusal) throw Error(*refusal);
  if ((answer & kNotRefused) == 0) throw Error(FENIX_ERROR_NOCATEGORY, "Fenix_Init failed on another rank");
  if ((answer & kBuilt) == 0) return false;
  // living is not freed: messages of it may still be under way, and its number would go to the next communicator.
  builder_.adopt(made, WorldBuilder::Occasion::start);
  members_.make_initial();
  return true;
}

bool Process::start_as_replacement(const ErrorHandlers& handlers) {
  repair_.note_time();
  comms_.set_handlers(handlers);
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
  repair_.reinforcement().set_spawns(invitation.spawn);
  repair_.reinforcement().allow(true);
  members_.begin_as_recruit(
      {invitation.ranks, invitation.spares + invitation.recruits, {-1, invitation.spares + rank_in(MPI_COMM_WORLD)}});
  repair_.run_as_recruit(joined);
  return true;
}

void Process::run_with_active(const std::function<void(Team& team)>& work) {
  MpiTeam active(comms_.world(), members_.seating().active, comms_.resilient());
  work(active);
}

bool Process::finish(bool repairs, const std::function<void()>& before_repair,
                     const std::function<void()>& before_end) {
  try {
    fault_point("finish.begin");
    meetings_.meet_at_end();
    fault_point("finish.met");
    if (members_.seating().own.rank == 0) standby_.release_all();
  } catch (const PeerFailure&) {
    if (repairs) throw;
    // Rank 0 may be among the dead: every rank tells the spares.
    standby_.release_all();
  }
  {
    const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
    if (!repair_.agree_to(Repair::Intent::finish)) {
      repair_.note_time();
      comms_.call_all_to_repair();
      before_repair();
      repair_.run_as_agreed();
      return false;
    }
  }
  fault_point("finish.agreed");
  before_end();
  comms_.end();
  watch_.end();
  return true;
}

}  // namespace fenix_impl
