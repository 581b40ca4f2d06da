// SPDX-License-Identifier: BSD-3-Clause
#include "restoring.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "subject.hpp"

namespace bench {

/// How far the run has come. Rank 0 never dies, and tells the ranks that are new.
struct Restoring::Place {
  int of_case = 0;
  int death = 0;
  std::int64_t step = 0;
};

struct Restoring::Rows {
  explicit Rows(const Case& of)
      : repair{"restore.repair", of, 1, Times{}, Times{}, {}},
        rebuild{"restore.rebuild", of, 1, Times{}, Times{}, {}},
        restore{"restore", of, 1, Times{}, Times{}, {}} {}

  Result repair, rebuild, restore;
};

namespace {

int repairs = 0;  // of this process
void count_repair(MPI_Comm, int, void*) { ++repairs; }

[[noreturn]] void die() {
  // The others are out of their barrier by then.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  static_cast<void>(std::raise(SIGKILL));
  std::abort();
}

void wait_for_repair(const Team& team) {
  // The resume mode is "return": the call that meets the death returns, when all is repaired.
  for (const int before = repairs; repairs == before;) MPI_Barrier(team.comm());
}

double repair_time(bool is_new) {
  double noticed = 0, repaired = 0;
  if (!is_new) check(Fenix_Process_repair_times(&noticed, &repaired), "Fenix_Process_repair_times");
  return repaired - noticed;
}

}  // namespace

Restoring::Restoring(const Team& team, const Options& options, std::vector<Case> cases, int first_group, Report report,
                     Say say, LeaveOut leave_out)
    : team_(team),
      options_(options),
      cases_(std::move(cases)),
      first_group_(first_group),
      report_(std::move(report)),
      say_(std::move(say)),
      leave_out_(std::move(leave_out)) {}

int Restoring::deaths() const {
  return std::min(options_.repetitions, options_.spares / static_cast<int>(cases_.size()));
}

void Restoring::run(bool is_new) {
  if (cases_.empty()) return;
  if (!is_new && (team_.size() < 2 || deaths() == 0)) {
    leave_out_("restore", "it needs 2 ranks besides the spares, and --spares " + std::to_string(cases_.size()) +
                              " or more: one for each case");
    return;
  }
  if (!is_new) check(Fenix_Callback_register(count_repair, nullptr), "Fenix_Callback_register");
  Place place;
  if (is_new) {
    check(MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, team_.comm()), "MPI_Bcast");
    check(Fenix_Callback_register(count_repair, nullptr), "Fenix_Callback_register");
    run_case(place, true);
    place = {place.of_case + 1, 0, 0};
  }
  for (; place.of_case < static_cast<int>(cases_.size()); ++place.of_case) run_case(place, false);
}

void Restoring::run_case(Place place, bool is_new) {
  const Case& of = cases_[static_cast<std::size_t>(place.of_case)];
  Subject subject(team_, of, first_group_ + place.of_case);
  Rows rows(subject.of());
  if (const std::string refused = is_new ? "" : subject.create(); !refused.empty()) {
    leave_out_("restore, policy " + of.policy, refused);
    return;
  }
  for (; place.death < deaths(); ++place.death) {
    if (!is_new) {
      say_(of.policy + ", " + std::to_string(of.bytes) + " bytes: restore, death " + std::to_string(place.death + 1) +
           " of " + std::to_string(deaths()));
      subject.compute();
      team_.barrier();
      team_.record(subject.copy(1, true), *rows.restore.copy);
      subject.store();
      subject.commit_barrier();
      place.step = subject.step();
      team_.barrier();
      if (team_.rank() == team_.size() - 1 - place.death % (team_.size() - 1)) die();
      wait_for_repair(team_);
      check(MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, team_.comm()), "MPI_Bcast");
    }
    // A process that has just come knows nothing of it.
    team_.record(team_.greatest(repair_time(is_new)), *rows.repair.times);
    team_.barrier();
    const double start = seconds_now();
    subject.take_up_group();
    team_.record(seconds_now() - start, *rows.rebuild.times);
    subject.define_member();
    subject.set_step(place.step);
    team_.barrier();
    team_.record(subject.restore(), *rows.restore.times);
    subject.compare();
    is_new = false;
  }
  rows.repair.copy = rows.rebuild.copy = rows.restore.copy;
  report_({rows.repair, rows.rebuild, rows.restore});
  subject.drop();
}

}  // namespace bench
