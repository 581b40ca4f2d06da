// SPDX-License-Identifier: BSD-3-Clause
// When checkpoints are asked for, looked for and given up.
#pragma once

#include <cstdint>
#include <optional>

namespace fenix_impl {

class CheckpointSchedule {
 public:
  /// The seconds of FENIX_CHECKPOINT_INTERVAL, 0 without it; nothing if it is no number of seconds. Local.
  [[nodiscard]] static std::optional<double> interval_of_environment();

  /// Asks for a checkpoint after each interval of the environment, from now on.
  void begin();
  void clear();

  /// Whether it is time to look for a request: a millisecond or more has gone by since the latest time.
  [[nodiscard]] bool is_due();
  /// Whether the pause after a line that was given up is not over.
  [[nodiscard]] bool is_paused() const;
  /// Returns whether a checkpoint has to be asked for. The next time is an interval later.
  [[nodiscard]] bool is_request_due();

  /// Whether this rank keeps the others waiting too long. They log their messages meanwhile. has_open_receives: at this call, which could take a
  /// checkpoint.
  [[nodiscard]] bool has_kept_others_waiting(bool has_open_receives);
  /// Begins to wait anew, as this rank refuses the line. Warns the first time.
  void note_refusal(int rank);
  /// Notes that a line was given up. pauses: on rank 0, which asks for the next one after the pause.
  void note_given_up(bool pauses);
  /// Notes that a line is complete.
  void note_complete() { pause_ = kPatience; }

 private:
  static constexpr double kPatience = 5;  // seconds

  std::int64_t next_look_ = 0;  // by the coarse clock
  double interval_ = 0;         // seconds between requests of rank 0; 0: none
  double next_request_ = 0;
  double next_line_ = 0;             // on rank 0: not before
  double pause_ = kPatience;         // after a line that was given up; twice as long after each
  double kept_waiting_since_ = 0;    // by open receives
  bool has_warned_of_wait_ = false;  // that others wait
};

}  // namespace fenix_impl
