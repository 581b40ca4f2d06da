// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule.hpp"

#include <mpi.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/environment.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

// Nanoseconds. Reading it costs a few of them; it goes on every few milliseconds.
std::int64_t coarse_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

}  // namespace

std::optional<double> CheckpointSchedule::interval_of_environment() {
  constexpr environment::Name kName("FENIX_CHECKPOINT_INTERVAL");
  if (!environment::is_set(kName)) return 0;
  return environment::parse(*kName, environment::text(kName));
}

void CheckpointSchedule::begin() {
  interval_ = interval_of_environment().value_or(0);
  next_request_ = MPI_Wtime() + interval_;
}

void CheckpointSchedule::clear() {
  kept_waiting_since_ = 0;
  next_line_ = 0;
  pause_ = kPatience;
}

bool CheckpointSchedule::is_due() {
  constexpr std::int64_t kBetweenLooks = 1'000'000;
  const std::int64_t now = coarse_time();
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  return true;
}

bool CheckpointSchedule::is_paused() const { return next_line_ > 0 && MPI_Wtime() < next_line_; }

bool CheckpointSchedule::is_request_due() {
  if (interval_ <= 0 || MPI_Wtime() < next_request_) return false;
  next_request_ = MPI_Wtime() + interval_;
  return true;
}

bool CheckpointSchedule::has_kept_others_waiting(bool has_open_receives) {
  const double now = MPI_Wtime();
  if (!has_open_receives || kept_waiting_since_ == 0) kept_waiting_since_ = has_open_receives ? now : 0;
  return kept_waiting_since_ != 0 && now - kept_waiting_since_ >= kPatience;
}

void CheckpointSchedule::note_refusal(int rank) {
  if (!std::exchange(has_warned_of_wait_, true)) {
    log().warn(
        "checkpoint: rank {} has been asked for one, and has had receives under way for {} s at each call that could "
        "take it: the checkpoint is given up on all ranks, and tried again later; more of these are not told",
        rank, kPatience);
  }
  kept_waiting_since_ = 0;
}

void CheckpointSchedule::note_given_up(bool pauses) {
  constexpr double kLongestPause = 600;
  if (pauses) next_line_ = MPI_Wtime() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

}  // namespace fenix_impl
