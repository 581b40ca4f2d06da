// SPDX-License-Identifier: BSD-3-Clause
// The work of a schedule and its ledger, for those who ask on behalf of the program.
#pragma once

#include <map>

#include "ledger.hpp"
#include "store_ledger.hpp"
#include "world.hpp"

namespace fenix_simulation {

struct Court {
  explicit Court(const Workload& its_plan);
  Court(const Court&) = delete;
  Court& operator=(const Court&) = delete;
  ~Court();

  /// Another job begins, and knows what the store has.
  void begin_job(int number);
  /// Returns whether the ranks of the job have died at the same time, and nothing else has happened.
  [[nodiscard]] bool has_only_died() const;

  const Workload& plan;
  Ledger ledger;
  StoreLedger store;
  int job = 0;
  int finishing = -1;               ///< the latest job of which a rank has come to its end
  std::uint64_t faults_before = 0;  ///< of the disk, when the job began
  std::map<int, Time> begun;        ///< the latest commit, by process
  int refusals = 0;
  int done = 0;
};

Court& court();

}  // namespace fenix_simulation
