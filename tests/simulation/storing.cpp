// SPDX-License-Identifier: BSD-3-Clause
// The simulated program's use of a store.
#include <string>

#include "program_state.hpp"

namespace fenix_simulation::program {
namespace {

std::uint64_t drawn(Purpose purpose, int group, int step) {
  return dice(plan(), purpose, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step));
}

std::string name_of(int step) { return "step" + std::to_string(step); }

}  // namespace

void go_back(int group, int step) {
  const int wanted = judge_fetches(group, step, attempt_of(state_of(group).attempts, step));
  if (wanted < 0) return;
  int stamp = -1;
  const int code = told(Fenix_Data_fetch(kFirstGroup + group, name_of(wanted).c_str(), &stamp), "Fenix_Data_fetch");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    judge_fetched(group, wanted, -1, 0);
    return;
  }
  if (!stored(code, "Fenix_Data_fetch")) return;
  restore_fetched(group, wanted);
}

void use_store(int group, int step, int stamp) {
  const int id = kFirstGroup + group;
  const std::int64_t attempt = attempt_of(state_of(group).attempts, step);
  if (once_in(plan().named_of, drawn(Purpose::flush, group, step))) {
    const std::string name = name_of(step);
    judge_flush_begins();
    const int code = told(Fenix_Data_flush(id, FENIX_DATA_SNAPSHOT_LATEST, name.c_str()), "Fenix_Data_flush");
    judge_flush_ends();
    if (stored(code, "Fenix_Data_flush")) judge_in_store(group, step, attempt, 1);
  }
  if (!once_in(plan().asked_of, drawn(Purpose::question, group, step))) return;
  int state = 0;
  MPI_Count bytes = 0;
  const int code = Fenix_Data_flush_state(id, stamp, &state, &bytes);
  if (stored(code, "Fenix_Data_flush_state") && state == FENIX_FLUSH_COMPLETE) judge_in_store(group, step, attempt, 0);
}

}  // namespace fenix_simulation::program
