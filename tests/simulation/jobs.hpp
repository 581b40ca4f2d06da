// SPDX-License-Identifier: BSD-3-Clause
// The jobs of a schedule, one after the other, on the same nodes and the same disk.
#pragma once

#include "court.hpp"
#include "schedule.hpp"
#include "world.hpp"

namespace fenix_simulation {

class Jobs {
 public:
  Jobs(World& world, Court& court, const Schedule& schedule, bool traces);
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  void start_first() { start(0); }
  /// Looks what the jobs have left behind.
  void look_at_end();

 private:
  void start(int job);
  void start_next();

  World& world_;
  Court& court_;
  const Schedule& schedule_;
  bool traces_;
  int job_ = 0;
  bool waits_ = false;  ///< the next one is about to begin
};

}  // namespace fenix_simulation
