// SPDX-License-Identifier: BSD-3-Clause
// The work of a schedule and its ledger, for those who ask on behalf of the program.
#pragma once

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

  const Workload& plan;
  Ledger ledger;
  StoreLedger store;
  int job = 0;
  std::uint64_t faults_before = 0;  ///< of the disk, when the job began
  int refusals = 0;
  int done = 0;
};

Court& court();

}  // namespace fenix_simulation
