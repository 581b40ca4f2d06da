// SPDX-License-Identifier: BSD-3-Clause
// The work of the program of --scale, and what it tells the simulator.
#pragma once

namespace fenix_simulation {

struct ScalePlan {
  int ranks = 0;
  int deaths = 1;  ///< and as many spares
  int bytes = 65536;
  int repetitions = 7;
  int policy = 0;         ///< FENIX_DATA_POLICY_…
  int* values = nullptr;  ///< of the policy
};

extern "C" {
const ScalePlan* scale_plan();
void scale_begin();
void scale_end(const char* phase);
void scale_seconds(const char* phase, double seconds);
/// Seconds from the first death of all until a time.
double scale_since_death(double time);
/// The present process dies.
void scale_die();
void scale_fail(const char* what, int code, const char* message);
}

}  // namespace fenix_simulation
