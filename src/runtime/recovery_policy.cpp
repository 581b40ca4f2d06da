// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/recovery_policy.hpp"

namespace fenix_impl {

bool RecoveryPolicy::repairs() const { return spawns() || settings_.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_REPAIR; }

bool RecoveryPolicy::spawns() const { return settings_.get(FENIX_RECOVERY_MODE) == FENIX_RECOVERY_SPAWN; }

bool RecoveryPolicy::repeats_calls() const { return logs_.active() != FENIX_MLOG_NONE && repeats_functions_of_logs(); }

bool RecoveryPolicy::repeats_functions_of_logs() const {
  return !logs_.falls_back() && settings_.get(FENIX_MLOG_RECOVERY_MODE) != FENIX_MLOG_RECOVERY_MANUAL;
}

// Programs whose logged calls go on catch exceptions of other calls where these come.
bool RecoveryPolicy::survivors_start_over() const {
  const unsigned mode = settings_.get(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_RETURN || repeats_calls()) return false;
  return mode == FENIX_RESUME_JUMP || !repeats_functions_of_logs();
}

}  // namespace fenix_impl
