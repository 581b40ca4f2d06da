// SPDX-License-Identifier: BSD-3-Clause
// A simulated process: its data, its memory, and what the system and MPI know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "heap.hpp"

namespace fenix_simulation {

using Pid = int;
/// No process of the machine has such a number: what looks at /proc finds nothing.
inline constexpr Pid kFirstPid = 5'000'000;

struct KernelState;
namespace mpi {
struct ProcessState;
}

/// A keeper belongs to none.
inline constexpr int kOfNoJob = -1;

/// How far a process has come.
struct Place {
  int point = -1;           ///< the last fault point
  std::uint64_t pass = 0;   ///< that it was passed so many times
  std::uint64_t after = 0;  ///< places since then
};

struct Process {
  Process(int its_number, int its_node, int its_job);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Memory for the program. Null if there is none.
  void* take_memory(std::size_t bytes, std::size_t alignment);

  int number;
  int node;
  int job;
  Pid pid;
  bool alive = true;
  bool exited = false;    ///< it has ended by itself
  bool stopped = false;   ///< it does not run until it is told to go on
  bool victim = false;    ///< the schedule wants it to die, or stops it
  bool has_left = false;  ///< it is no child of the process that has started it any more
  std::vector<std::byte> data;
  Heap heap;
  std::vector<Fiber*> fibers;
  std::map<std::string, std::string> environment;
  std::unique_ptr<KernelState> kernel;
  std::unique_ptr<mpi::ProcessState> mpi;

  std::uint64_t switches = 0;  ///< so often it has had the processor
  Place place;
  std::uint64_t places = 0;             ///< all that it has come to
  std::uint64_t act_at = kNever;        ///< the place at which an event of the schedule happens
  std::map<int, std::uint64_t> passes;  ///< of each fault point
  std::uint64_t slowness = 1;
  Time held_until = 0;
  std::map<Pid, Time> notices;               ///< when it gets to know of which death
  std::uint64_t memory_fails_from = kNever;  ///< number of the request
  std::uint64_t memory_fails_to = 0;
  std::uint64_t requests_of_memory = 0;
  std::uint64_t requests_of_bytes = 0;  ///< that nobody can foresee

  // Only where a machine's costs count.

  std::priority_queue<Time, std::vector<Time>, std::greater<>> arrivals;  ///< when something reaches it
  unsigned open_requests = 0;                                             ///< of MPI
};

/// Returns the process that runs, or null in the world itself.
Process* present_process();

}  // namespace fenix_simulation
