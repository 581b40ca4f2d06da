// SPDX-License-Identifier: BSD-3-Clause
// The report to the application that snapshots were lost.
#pragma once

#include "core/group.hpp"

namespace fenix_impl {

/// Kept in the group until a rejoin has come to its end: one that is cut short may already have dropped what is lost.
class LossReport {
 public:
  /// is_owed: an earlier rejoin owes it, on some rank.
  void begin(bool is_owed) { lost_ = is_owed; }
  void note(Group& group, bool lost) {
    lost_ = lost_ || lost;
    group.recovery().owe_loss_report(lost_);
  }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  bool lost_ = false;
};

}  // namespace fenix_impl
