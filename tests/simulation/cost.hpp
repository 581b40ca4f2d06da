// SPDX-License-Identifier: BSD-3-Clause
// What things cost on a machine: a model in place of random delays, for runs of many ranks.
#pragma once

#include <cstddef>
#include <string>

#include "fiber.hpp"

namespace fenix_simulation {

/// Latency and time per byte, in ns.
struct Link {
  double latency = 0;
  double byte = 0;

  [[nodiscard]] double of(std::size_t bytes) const { return latency + byte * static_cast<double>(bytes); }
};

/// Time of an operation of n processes, in ns: base + factor · log2 n.
struct Growth {
  double base = 0;
  double factor = 0;

  [[nodiscard]] Time of(std::size_t processes) const;
};

/// Costs, in ns; machines/cluster.txt describes them.
struct Machine {
  Link node_message;
  Link network_message;
  Link node_access;
  Link network_access;
  double call = 0;
  double copy_byte = 0;
  double hash_byte = 0;
  double nap = 0;
  double notice = 0;
  double eager = 0;
  Growth agree;
  Growth shrink;

  [[nodiscard]] Time message(bool on_node, std::size_t bytes) const {
    return static_cast<Time>((on_node ? node_message : network_message).of(bytes));
  }
  [[nodiscard]] Time access(bool on_node, std::size_t bytes) const {
    return static_cast<Time>((on_node ? node_access : network_access).of(bytes));
  }
  /// Returns the time of a collective call of MPI after the last process has come.
  [[nodiscard]] Time collective(bool on_node, std::size_t processes, std::size_t bytes) const;
};

/// Reads a file with a name and a value on each line. Throws a text that names what is wrong.
Machine read_machine(const std::string& path);

namespace detail {
extern const Machine* the_machine;
}

/// The machine whose costs count, or null: delays are drawn then.
inline const Machine* machine() { return detail::the_machine; }
inline void set_machine(const Machine* machine) { detail::the_machine = machine; }

}  // namespace fenix_simulation
