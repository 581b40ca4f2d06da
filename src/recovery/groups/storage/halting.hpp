// SPDX-License-Identifier: BSD-3-Clause
// Whether the job should end: near the end of its allocation, or because somebody wishes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "keeper/client.hpp"
#include "recovery/groups/storage/paced_meeting.hpp"
#include "recovery/groups/storage/store_settings.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class Halting {
 public:
  Halting() = default;
  /// keeper: of this node; null without a store. run: for which wishes hold.
  Halting(const StoreSettings& settings, std::shared_ptr<KeeperClient> keeper)
      : end_time_(settings.end_time), seconds_(settings.halt_seconds), keeper_(std::move(keeper)) {}

  /// Asks anew after a repair, since ranks that have taken the places of dead ones know nothing.
  void begin_anew();
  /// Whether the job should end; the same on all ranks. Collective. run: number of this job, or 0. commits: of this rank so far.
  /// check may throw; it runs in each call.
  [[nodiscard]] bool is_due(Team& team, std::uint32_t run, std::uint64_t commits, const std::function<void()>& check);
  /// Returns what is_due() has said last.
  [[nodiscard]] bool is_halting() const { return is_halting_; }

 private:
  [[nodiscard]] bool is_wished(std::uint32_t run, std::uint64_t commits);

  std::int64_t end_time_ = 0;
  std::uint32_t seconds_ = 0;
  std::shared_ptr<KeeperClient> keeper_;
  PacedMeeting meeting_;
  bool is_halting_ = false;
  std::optional<HaltConditions> seen_;
  std::uint64_t commits_when_seen_ = 0;
};

}  // namespace fenix_impl
