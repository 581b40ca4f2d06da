// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/standby.hpp"

#include <fenix/codes.h>
#include <sched.h>
#include <mpi-ext.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/deadline.hpp"
#include "base/fault.hpp"
#include "recovery/process/comm_functions.hpp"

namespace fenix_impl {
namespace {

constexpr int kFinishTag = 1;

// A spare that notices a death gives the active ranks this long to begin the repair. As a rule they notice it
// themselves; until then the spare would burn a core in the agreement with which the repair starts.
constexpr std::chrono::seconds kPatience{1};

constexpr std::chrono::microseconds kShortestNap{100};
constexpr std::chrono::microseconds kLongestNap{10'000};

}  // namespace

bool Standby::world_revoked() {
  int found = 0;
  // A look into the queue lets MPI notice failures. Deaths of other ranks must not hide messages: acknowledge them.
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFinishTag, comms_.world(), &found, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    MPIX_Comm_failure_ack(comms_.world());
  }
  return is_revoked(comms_.world());
}

bool Standby::told_to_finish() {
  const MPI_Comm world = comms_.world();
  int found = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFinishTag, world, &found, &status) != MPI_SUCCESS || found == 0) return false;
  char message = 0;
  return MPI_Recv(&message, 1, MPI_CHAR, status.MPI_SOURCE, kFinishTag, world, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool Standby::needs_spare(bool repairs) {
  const int active = members_.seating().active;
  const auto failed = known_failed(comms_.world());
  const auto dead = std::count_if(failed.begin(), failed.end(), [&](int rank) { return rank < active; });
  return dead >= (repairs ? 1 : active);
}

bool Standby::wait(unsigned wait_mode, bool repairs) {
  auto nap = kShortestNap;
  Deadline patience(kPatience);
  while (true) {
    fault_point("spare.waits");
    const std::uint32_t rings = watch_.rings();
    const bool revoked = world_revoked();
    if (!needs_spare(repairs)) patience = Deadline(kPatience);
    if (revoked || patience.passed()) {
      repair_.run();
      if (!members_.is_spare()) return true;
      patience = Deadline(kPatience);
      continue;
    }
    if (told_to_finish()) {
      const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
      if (repair_.agree_to(Repair::Intent::finish)) return false;
      repair_.note_time();
      repair_.run_as_agreed();
      if (!members_.is_spare()) return true;
      continue;
    }
    if (wait_mode == FENIX_SPARE_WAIT_YIELD) sched_yield();
    if (wait_mode == FENIX_SPARE_WAIT_SLEEP) {
      nap = watch_.sleep(rings, nap) ? kShortestNap : std::min(nap * 2, kLongestNap);
    }
  }
}

void Standby::release_all() {
  const char message = 0;
  for (int spare = members_.seating().active; spare < members_.seating().all(); ++spare) {
    MPI_Send(&message, 1, MPI_CHAR, spare, kFinishTag, comms_.world());
  }
  watch_.ring();
}

}  // namespace fenix_impl
