// SPDX-License-Identifier: BSD-3-Clause
// Events of a schedule: what goes wrong, with whom, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiber.hpp"

namespace fenix_simulation {

struct Event {
  /// pass: nothing goes wrong; others wait for it.
  /// job_dies: all ranks of the job of a process, one after the other. power_fails: all processes, and what was not synced.
  enum class What : std::uint8_t { die, node_dies, stop, flip, refuse, no_memory, pass, job_dies, power_fails };
  /// Where it happens. If it comes after another event, places and passes are counted from there.
  enum class When : std::uint8_t {
    place,  ///< at the number-th place of the process: a fault point, an access to shared memory, a call
    point,  ///< so many places after the number-th pass of a point
    time    ///< of the clock
  };
  What what = What::die;
  int process = 0;
  int at = -1;  ///< the process whose places count; −1: its own
  When when = When::place;
  std::string point;
  std::uint64_t number = 1;
  std::uint64_t later =
      0;           ///< places behind a point; of a stop: its length in ns; of a lack of memory: the requests that fail
  int after = -1;  ///< another event

  [[nodiscard]] int watched() const { return at >= 0 ? at : process; }
  /// Returns the places behind a point.
  [[nodiscard]] std::uint64_t places_behind() const {
    return what == What::stop || what == What::no_memory ? 0 : later;
  }
  friend bool operator==(const Event&, const Event&) = default;
};

/// Other things about a schedule that its seed decides.
struct Surroundings {
  std::uint64_t yields = 8;     ///< one of so many accesses to shared memory lets others run
  std::uint64_t stalls = 2000;  ///< one of so many steps holds a process up
  bool late_notices = true;     ///< deaths may be known only after seconds
  bool slow_notices = false;    ///< all deaths are known only after more than a second
  bool slow_network = false;    ///< accesses to the memory of others may take long
  bool rendezvous = true;       ///< sends may wait for their receiver
  std::uint64_t uneven = 1;     ///< a process may be slower than another by this factor

  bool basic_keys = false;  ///< the network chooses keys, and wants addresses
  bool open_mpi =
      false;  ///< MPI does what Open MPI 5 does beyond the standard: errors that say little, flushes of all targets
  std::uint64_t disk_errors = 0;  ///< one of so many requests to the disk fails; 0: none
  std::uint64_t disk_hangs = 0;   ///< one of so many takes seconds or minutes; 0: none

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

std::string text_of(const Event& event);
/// Returns false if a line is no event.
bool parse(const std::string& line, Event& event);

}  // namespace fenix_simulation
