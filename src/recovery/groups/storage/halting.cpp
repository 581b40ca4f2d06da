// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/halting.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {

void Halting::begin_anew() {
  meeting_ = {};
  is_halting_ = false;
}

bool Halting::is_due(Team& team, std::uint32_t run, std::uint64_t commits, const std::function<void()>& check) {
  constexpr double kSecondsBetween = 1;
  struct Said {
    double per_call = 0;
    std::uint64_t is_wished = 0;
  };
  if (is_halting_ || !meeting_.is_due()) {
    check();
    return is_halting_;
  }
  (void)meet(team, Operation::should_halt, 0, 0, check);
  const Said mine{meeting_.seconds_per_call(), team.rank() == 0 && is_wished(run, commits) ? 1U : 0U};
  const Said all = team.reduce(mine, [](Said& into, const Said& from) {
    into.per_call = std::max(into.per_call, from.per_call);
    into.is_wished |= from.is_wished;
  });
  meeting_.plan(kSecondsBetween, all.per_call);
  is_halting_ = all.is_wished != 0;
  return is_halting_;
}

// On the first rank. A store that does not answer ends no job.
bool Halting::is_wished(std::uint32_t run, std::uint64_t commits) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (end_time_ != 0 && now >= end_time_ - seconds_) {
    log().warn("the job should end: its time is nearly over");
    return true;
  }
  const auto begun = Clock::now();
  if (run == 0 || !keeper_ || begun < asks_again_) return false;
  try {
    const auto wish = keeper_->runs().halt_conditions(limit_, [] {});
    said_.clear();
    return wish && wish->run == run && is_over(*wish, now, commits);
  } catch (const Error& error) {
    // One that refuses at once is asked as often as before.
    constexpr int kTimesAsLong = 10;
    const auto ended = Clock::now();
    asks_again_ = ended + kTimesAsLong * (ended - begun);
    if (std::exchange(said_, error.what()) != error.what()) log().warn("whether the job should end: {}", error.what());
    return false;
  }
}

bool Halting::is_over(const HaltConditions& wish, std::int64_t now, std::uint64_t commits) {
  if (seen_ != wish) commits_when_seen_ = commits;
  seen_ = wish;
  const bool is_due = (wish.at && now >= *wish.at) || (wish.before && now >= *wish.before - seconds_) ||
                      (wish.commits && commits - commits_when_seen_ >= *wish.commits);
  if (is_due) log().warn("the job should end: {}", wish.reason.empty() ? "fenix-halt" : wish.reason);
  return is_due;
}

}  // namespace fenix_impl
