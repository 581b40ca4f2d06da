// SPDX-License-Identifier: BSD-3-Clause
// Meetings of active ranks before they do something together that has no deadline. A rank that gives up waiting can come back.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "recovery/process/communicators.hpp"
#include "recovery/process/membership.hpp"
#include "recovery/process/resumable_barrier.hpp"

namespace fenix_impl {

class Meetings {
 public:
  /// Both must outlive it.
  Meetings(const Communicators& comms, const Membership& members) : comms_(comms), members_(members) {}

  /// Returns when all these ranks of the resilient communicator, this one among them, have called it. Throws as Team
  /// does. It can be repeated after a time-out.
  void meet(const std::vector<int>& ranks);
  /// Does the same with all active ranks, at the end.
  void meet_at_end();
  /// Forgets those that a repair has cut short.
  void clear() { barriers_.clear(); }

 private:
  void wait_for(const std::vector<int>& ranks, int tag, const char* waited_for);

  const Communicators& comms_;
  const Membership& members_;
  std::mutex mutex_;                                                                        // of barriers_
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<ResumableBarrier>> barriers_;  // by tag and ranks
};

}  // namespace fenix_impl
