// SPDX-License-Identifier: BSD-3-Clause
// The parts that deal with failures, in the order in which they know each other.
#pragma once

#include "recovery/process/process.hpp"
#include "runtime/call_gate.hpp"
#include "runtime/continuation.hpp"
#include "runtime/failure_detector.hpp"
#include "runtime/failure_handler.hpp"
#include "runtime/outputs.hpp"
#include "runtime/participants.hpp"
#include "runtime/recovery_policy.hpp"
#include "runtime/resumption.hpp"
#include "runtime/settings.hpp"
#include "runtime/subsystems.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

struct Recovery {
  /// All must outlive it.
  Recovery(const Settings& settings, const UseState& use, Process& process, Subsystems& subsystems);

  CallGate gate;
  RecoveryPolicy policy;
  FailureDetector detector;
  OutputPlaces outputs;
  GroupsInRepair groups;
  LogsInRepair logs;
  CheckpointsInRepair checkpoints;
  Resumption resumption;
  Continuation continuation;
  FailureHandler failures;
};

}  // namespace fenix_impl
