// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/repair.hpp"

#include <fenix/codes.h>
#include <mpi-ext.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "interposition/interposer.hpp"
#include "recovery/process/comm_functions.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

// Votes in the agreement at the end of a repair: this, and behind it a bit for each question whose answer is no.
constexpr int kBuilt = 1;
constexpr int kFirstQuestion = 1;
constexpr int kQuestions = (1 << Repair::kMostQuestions) - 1;

/// Makes the derived communicators of the program anew. Collective over resilient; nothing is done without one.
/// Throws PeerFailure or MpiError.
void rebuild_derived(MPI_Comm resilient, const RepairPlan& plan) {
  if (resilient == MPI_COMM_NULL) return;
  const auto recovered = std::make_unique<bool[]>(plan.recovered.size());
  std::copy(plan.recovered.begin(), plan.recovered.end(), recovered.get());
  check_mpi(interposer()->rebuild(resilient, plan.former.data(), recovered.get()), "the rebuild of communicators");
}

/// Says whether a step has succeeded on all ranks, and frees those that wait in it for this one. Collective over living.
/// yes: questions whose answer is yes here. some_yes: here or elsewhere.
bool agree_on(MPI_Comm living, bool done, int yes, int& some_yes) {
  // Bits that all have set are left.
  int votes = (done ? kBuilt : 0) | (kQuestions & ~yes) << kFirstQuestion;
  if (!done) revoke(living);
  MPIX_Comm_agree(living, &votes);
  some_yes = kQuestions & ~(votes >> kFirstQuestion);
  return (votes & kBuilt) != 0;
}

bool agree_on(MPI_Comm living, bool done) {
  int nobody = 0;
  return agree_on(living, done, 0, nobody);
}

}  // namespace

int Repair::outcome() const {
  if (!members_.shrunk()) return FENIX_SUCCESS;
  return reinforcement_.has_failed() ? FENIX_ERROR_SPAWNING_FAILED : FENIX_WARNING_SPARE_RANKS_DEPLETED;
}

bool Repair::agree_to(Intent intent) {
  const LastResort resort(kTimeoutsOfARound);
  constexpr int kFinish = 1;
  constexpr int kSpawn = 2;
  constexpr int kNoActive = 4;
  const bool is_spare = members_.is_spare();
  // Spares do not know the present setting of the active ranks. Alone they have their own.
  int votes = (intent == Intent::finish ? kFinish : 0) | (is_spare || allows_spawning_ ? kSpawn : 0) |
              (is_spare ? kNoActive : 0);
  // The result is the same on all living ranks, whatever the call returns. It works on a revoked communicator.
  MPIX_Comm_agree(comms_.world(), &votes);
  reinforcement_.allow((votes & kNoActive) != 0 ? allows_spawning_ : (votes & kSpawn) != 0);
  return ((votes & kFinish) != 0) == (intent == Intent::finish);
}

void Repair::run() {
  note_time();
  fault_point("repair.begin");
  comms_.call_all_to_repair();
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  (void)agree_to(Intent::repair);
  run_as_agreed();
}

void Repair::run_as_recruit(MPI_Comm joined) {
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  if (build_and_adopt(joined)) return;
  comms_.set_world(joined);
  run_as_agreed();
}

void Repair::run_as_agreed() {
  reinforcement_.begin();
  vain_turns_ = {};
  while (!try_once()) {
    log().info("repairing again");
    vain_turns_.note_turn(comms_.world());
  }
}

bool Repair::try_once() {
  const LastResort resort(kTimeoutsOfARound);
  fault_point("repair.agreed");
  MPI_Comm living = MPI_COMM_NULL;
  const MPI_Comm world = comms_.world();
  // The shrink is fault tolerant in itself: as a rule an error means that yet another rank has died in the meantime.
  if (!vain_turns_.run([&] { check_mpi(MPIX_Comm_shrink(world, &living), "MPIX_Comm_shrink"); })) return false;
  MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  fault_point("repair.shrunk");
  if (size_of(living) < size_of(world)) vain_turns_.note_failure();
  const bool done = reinforcement_.run(living) && build_and_adopt(living);
  if (!done) comms_.set_world(living);
  return done;
}

bool Repair::build_and_adopt(MPI_Comm living) {
  NewWorld made;
  // Damaged communicators are never freed: see MpiTeam::~MpiTeam.
  const bool built = vain_turns_.run([&] { builder_.build(living, made, WorldBuilder::Occasion::repair); });
  if (!built) revoke(made.world);
  fault_point("repair.built");
  if (!agree_on(living, built, answer_(), some_said_yes_)) return false;
  // Not before: a rank that lacks the resilient communicator could not end the waits of others there.
  if (interposer() != nullptr) {
    const bool rebuilt = vain_turns_.run([&] { rebuild_derived(made.resilient, made.plan); });
    if (!agree_on(living, rebuilt)) return false;
  }
  adopt(made);
  fault_point("repair.done");
  return true;
}

void Repair::adopt(const NewWorld& made) {
  builder_.adopt(made, WorldBuilder::Occasion::repair);
  members_.note_failed(made.plan.failed);
  ++count_;
  repaired_ = MPI_Wtime();
  log().info("repaired: {} active ranks, {} spares, {} dead, {:.1f} ms", members_.seating().active,
             members_.seating().spares, members_.failed().size(), (repaired_ - noticed_) * 1e3);
}

}  // namespace fenix_impl
