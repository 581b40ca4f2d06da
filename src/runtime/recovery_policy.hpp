// SPDX-License-Identifier: BSD-3-Clause
// Decisions about failures that follow from the settings of the program and its logs of messages.
#pragma once

#include "messages/log/region_logs.hpp"
#include "runtime/settings.hpp"

namespace fenix_impl {

class RecoveryPolicy {
 public:
  /// Both must outlive it.
  RecoveryPolicy(const Settings& settings, const RegionLogs& logs) : settings_(settings), logs_(logs) {}

  /// Whether deaths are repaired.
  [[nodiscard]] bool repairs() const;
  /// Whether repairs spawn processes when the spares are used up.
  [[nodiscard]] bool spawns() const;
  /// Whether a message log is active, and calls that a failure has cut short are repeated.
  [[nodiscard]] bool repeats_calls() const;
  /// Whether functions of message logs are repeated, too, whatever log is active.
  [[nodiscard]] bool repeats_functions_of_logs() const;
  /// Whether survivors come out of Fenix_Init, or go on elsewhere, after a repair.
  [[nodiscard]] bool survivors_start_over() const;

 private:
  const Settings& settings_;
  const RegionLogs& logs_;
};

}  // namespace fenix_impl
