// SPDX-License-Identifier: BSD-3-Clause
// After a repair: what the library has is taken up again, on the communicator that was made.
#pragma once

#include <vector>

#include "recovery/process/process.hpp"
#include "runtime/failure_detector.hpp"
#include "runtime/repair_participant.hpp"

namespace fenix_impl {

class Resumption {
 public:
  /// All must outlive it. Participants detach and reattach in their order.
  Resumption(Process& process, const FailureDetector& detector, std::vector<RepairParticipant*> participants);

  /// Has repairs ask what has to be taken up after them.
  void begin();
  /// Does what has to be done before control resumes. Repairs again when a rank dies meanwhile. Programs that need nothing of it pay nothing.
  void run();

 private:
  [[nodiscard]] int answers() const;
  void detach_all();
  /// Returns false if a rank has died.
  bool try_once();
  void put_off();

  Process& process_;
  const FailureDetector& detector_;
  const std::vector<RepairParticipant*> participants_;
  bool owes_recovered_role_ = false;  // the application has not been told yet that this is a recovered rank
};

}  // namespace fenix_impl
