// SPDX-License-Identifier: BSD-3-Clause
// Whether the job should end: near the end of its allocation, or because somebody wishes it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "keeper/client/client.hpp"
#include "recovery/groups/storage/paced_meeting.hpp"
#include "recovery/groups/storage/store_settings.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class Halting {
 public:
  Halting() = default;
  /// keeper: of this node; null without a store. run: for which wishes hold.
  Halting(const StoreSettings& settings, std::shared_ptr<KeeperClient> keeper)
      : end_time_(settings.end_time),
        seconds_(settings.halt_seconds),
        limit_(std::min(std::chrono::seconds(settings.seconds), kMostPatience)),
        keeper_(std::move(keeper)) {}

  /// Asks anew after a repair, since ranks that have taken the places of dead ones know nothing.
  void begin_anew();
  /// Whether the job should end; the same on all ranks. Collective. run: number of this job, or 0. commits: of this rank so far.
  /// check may throw; it runs in each call.
  [[nodiscard]] bool is_due(Team& team, std::uint32_t run, std::uint64_t commits, const std::function<void()>& check);
  /// Returns what is_due() has said last.
  [[nodiscard]] bool is_halting() const { return is_halting_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// All ranks wait for the answer of a keeper: a stopped one must not take most of their time.
  static constexpr std::chrono::seconds kMostPatience{5};

  [[nodiscard]] bool is_wished(std::uint32_t run, std::uint64_t commits);
  [[nodiscard]] bool is_over(const HaltConditions& wish, std::int64_t now, std::uint64_t commits);

  std::int64_t end_time_ = 0;
  std::uint32_t seconds_ = 0;
  std::chrono::seconds limit_{0};
  std::shared_ptr<KeeperClient> keeper_;
  PacedMeeting meeting_;
  bool is_halting_ = false;
  std::optional<HaltConditions> seen_;
  std::uint64_t commits_when_seen_ = 0;
  Clock::time_point asks_again_;  ///< after a store that has not answered
  std::string said_;              ///< reason that was told why the store does not say it
};

}  // namespace fenix_impl
