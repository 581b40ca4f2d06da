// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/recovery.hpp"

namespace fenix_impl {

Recovery::Recovery(const Settings& settings, const UseState& use, Process& process, Subsystems& subsystems)
    : policy(settings, subsystems.region_logs),
      detector(process, use),
      outputs(process),
      groups(process, subsystems.groups),
      logs(process, subsystems.persistence, subsystems.region_logs, policy),
      checkpoints(subsystems.checkpoints),
      resumption(process, detector, {&groups, &logs, &checkpoints}),
      continuation(settings, subsystems.callbacks, process, use),
      failures({settings, use, process, subsystems.teams, subsystems.groups, gate, policy, detector, outputs,
                resumption, continuation}) {}

}  // namespace fenix_impl
