// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/commit_schedule.hpp"

#include <cmath>
#include <limits>

#include "base/environment.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

/// The state of the ranks, merged: the slowest one counts.
struct ScheduleState {
  double elapsed = 0;
  double cost = 0;
  double per_call = 0;
  std::uint64_t is_flushing = 0;

  void merge(const ScheduleState& from) {
    elapsed = std::max(elapsed, from.elapsed);
    cost = std::max(cost, from.cost);
    per_call = std::max(per_call, from.per_call);
    is_flushing |= from.is_flushing;
  }
};

}  // namespace

CommitSettings CommitSettings::from_environment() {
  CommitSettings settings;
  settings.every = static_cast<std::uint32_t>(environment::whole("FENIX_COMMIT_EVERY"));
  settings.seconds = environment::number("FENIX_COMMIT_SECONDS");
  settings.overhead = environment::number("FENIX_COMMIT_OVERHEAD") / 100;
  settings.mtbf = environment::number("FENIX_COMMIT_MTBF");
  return settings;
}

double daly_interval(double cost, double mtbf) {
  if (cost >= 2 * mtbf) return mtbf;
  const double ratio = cost / (2 * mtbf);
  return std::sqrt(2 * cost * mtbf) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - cost;
}

double interval_of(const CommitSettings& settings, double cost) {
  double interval = std::numeric_limits<double>::infinity();
  if (settings.seconds > 0) interval = settings.seconds;
  if (settings.overhead > 0) interval = std::min(interval, cost < 0 ? 0 : cost / settings.overhead);
  if (settings.mtbf > 0) interval = std::min(interval, cost < 0 ? 0 : daly_interval(cost, settings.mtbf));
  return interval;
}

void CommitSchedule::note_commit() {
  cost_ = std::chrono::duration<double>(work_).count();
  work_ = {};
  calls_ = 0;
  is_due_ = false;
  since_ = Clock::now();
}

bool CommitSchedule::is_due_here() {
  if (settings_.every > 0 && ++calls_ >= settings_.every) is_due_ = true;
  if (settings_.has_times()) {
    is_due_ = is_due_ || std::chrono::duration<double>(Clock::now() - since_).count() >= interval_of(settings_, cost_);
  }
  return is_due_;
}

bool CommitSchedule::is_due(Team& team, bool is_flushing, const std::function<void()>& check) {
  // A flush that takes longer than so many intervals does not hold the commits back any more.
  constexpr double kMostIntervals = 2;
  if (is_due_) {
    check();
    return true;
  }
  if (settings_.every > 0 && ++calls_ >= settings_.every) is_due_ = true;
  if (!is_due_ && settings_.has_times() && meeting_.is_due()) {
    (void)meet(team, Operation::need_commit, 0, 0, check);
    ScheduleState mine{std::chrono::duration<double>(Clock::now() - since_).count(), cost_, meeting_.seconds_per_call(),
                       is_flushing ? 1U : 0U};
    const ScheduleState all =
        team.reduce(mine, [](ScheduleState& into, const ScheduleState& from) { into.merge(from); });
    const double interval = interval_of(settings_, all.cost);
    const bool waits = all.is_flushing != 0 && all.elapsed < kMostIntervals * interval;
    is_due_ = all.elapsed >= interval && !waits;
    // Half of the way, and again half of what is left then: steps may take longer than before.
    meeting_.plan(std::max(interval - all.elapsed, interval / 16) / 2, all.per_call);
    return is_due_;
  }
  check();
  return is_due_;
}

}  // namespace fenix_impl
