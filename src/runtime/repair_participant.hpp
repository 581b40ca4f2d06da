// SPDX-License-Identifier: BSD-3-Clause
// A part of the library that keeps something across repairs.
#pragma once

namespace fenix_impl {

class RepairParticipant {
 public:
  /// A participant asks the processes so many questions at most in each repair.
  static constexpr int kMostQuestions = 4;

  RepairParticipant() = default;
  RepairParticipant(const RepairParticipant&) = delete;
  RepairParticipant& operator=(const RepairParticipant&) = delete;
  virtual ~RepairParticipant() = default;

  /// Returns a bit for each of its questions whose answer is yes here. Local; spares are asked, too.
  [[nodiscard]] virtual int answers() const { return 0; }
  /// Gives up what belongs to the communicators from before the repair. said_yes: questions to which some process has said yes. Local.
  virtual void detach(int said_yes) = 0;
  /// Takes it up again on the communicators that there are now. Collective over the active ranks, if any of them has said yes to any question.
  /// Throws as Team does.
  virtual void reattach(int /*said_yes*/) {}
  /// Keeps what it has, after an error that comes from no death. Local.
  virtual void put_off() {}
};

}  // namespace fenix_impl
