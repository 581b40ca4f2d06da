// SPDX-License-Identifier: BSD-3-Clause
// What the simulated program does with a store.
#include <string>

#include "program_state.hpp"

namespace fenix_simulation::program {
namespace {

std::uint64_t drawn(Purpose purpose, int group, int step) {
  return dice(plan(), purpose, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step));
}

}  // namespace

void use_store(int group, int step, int stamp) {
  const int id = kFirstGroup + group;
  const std::int64_t attempt = attempt_of(state_of(group).attempts, step);
  if (once_in(plan().named_of, drawn(Purpose::flush, group, step))) {
    const std::string name = "step" + std::to_string(step);
    if (stored(told(Fenix_Data_flush(id, FENIX_DATA_SNAPSHOT_LATEST, name.c_str()), "Fenix_Data_flush"), "Fenix_Data_flush"))
      judge_in_store(group, step, attempt);
  }
  if (!once_in(plan().asked_of, drawn(Purpose::question, group, step))) return;
  int state = 0;
  MPI_Count bytes = 0;
  const int code = Fenix_Data_flush_state(id, stamp, &state, &bytes);
  if (stored(code, "Fenix_Data_flush_state") && state == FENIX_FLUSH_COMPLETE) judge_in_store(group, step, attempt);
}

}  // namespace fenix_simulation::program
