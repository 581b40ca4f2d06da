// SPDX-License-Identifier: BSD-3-Clause
// When a group should commit, by the settings of the user and the measured time of its commits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "recovery/groups/storage/paced_meeting.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// FENIX_COMMIT_EVERY, _SECONDS, _OVERHEAD (percent) and _MTBF (seconds). 0: not set.
struct CommitSettings {
  std::uint32_t every = 0;
  double seconds = 0;
  double overhead = 0;
  double mtbf = 0;

  [[nodiscard]] static CommitSettings from_environment();
  [[nodiscard]] bool has_times() const { return seconds > 0 || overhead > 0 || mtbf > 0; }
};

/// Returns the seconds between commits of so many seconds each that lose least time, by Daly's formula of 2006.
[[nodiscard]] double daly_interval(double cost, double mtbf);
/// Returns the seconds after which the next commit is due; the shortest that the settings ask for. cost: of a commit, or negative if it is
/// not known.
[[nodiscard]] double interval_of(const CommitSettings& settings, double cost);

class CommitSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether it has to know the time of stores and commits.
  [[nodiscard]] bool measures() const { return settings_.has_times(); }
  /// Notes that a store or a commit has taken so long.
  void note_work(Clock::duration time) { work_ += time; }
  void note_commit();

  /// Returns whether a commit is due as far as this rank knows. Local.
  [[nodiscard]] bool is_due_here();
  /// Returns whether a commit is due. is_flushing: a flush of this rank is under way. Collective. check may throw; it runs in each call.
  [[nodiscard]] bool is_due(Team& team, bool is_flushing, const std::function<void()>& check);

 private:
  CommitSettings settings_ = CommitSettings::from_environment();
  PacedMeeting meeting_;
  std::uint32_t calls_ = 0;
  bool is_due_ = false;
  Clock::time_point since_ = Clock::now();
  Clock::duration work_{0};
  double cost_ = -1;
};

}  // namespace fenix_impl
