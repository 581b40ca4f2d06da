// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/vain_turns.hpp"

#include <mpi-ext.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"

namespace fenix_impl {
namespace {

constexpr int kMostTurns = 10;
constexpr std::chrono::milliseconds kPauseOfLooks{1};

}  // namespace

bool VainTurns::run(const std::function<void()>& step) {
  try {
    step();
    return true;
  } catch (const PeerFailure& failure) {
    log().info("repair: {}", failure.what());
  } catch (const std::exception& error) {
    log().warn("repair: {}", error.what());
    keep(error.what());
  }
  return false;
}

// Memory may be what lacks.
void VainTurns::keep(const char* text) noexcept {
  try {
    error_ = text;
  } catch (const std::bad_alloc&) {
    error_ = "no memory";
  }
}

void VainTurns::note_turn(MPI_Comm comm) {
  if (++turns_ == kMostTurns) end_job();
  for (const Deadline deadline(kNoticeTakes); known_failed(comm).empty() && !deadline.passed();) {
    // comm may be revoked: then probes on it make no progress.
    make_progress(MPI_COMM_SELF);
    std::this_thread::sleep_for(kPauseOfLooks);
  }
}

void VainTurns::end_job() const {
  // The rank that knows the error speaks first: MPI_Abort of another one would end it.
  if (error_.empty()) std::this_thread::sleep_for(10 * kNoticeTakes);
  std::fprintf(stderr, "fenix: a repair has failed %d times, and no rank has died meanwhile: %s\n", kMostTurns,
               error_.empty() ? "another rank has met an error" : error_.c_str());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

bool all_do(MPI_Comm living, VainTurns& turns, const std::function<void()>& step) {
  int done = turns.run(step) ? 1 : 0;
  if (done == 0) revoke(living);
  // The result is the same on all ranks, and counts ranks that have died without saying no.
  return MPIX_Comm_agree(living, &done) == MPI_SUCCESS && done != 0;
}

}  // namespace fenix_impl
