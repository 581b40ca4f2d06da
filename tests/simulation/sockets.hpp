// SPDX-License-Identifier: BSD-3-Clause
// Sockets between processes of a node, by which messages and descriptors go.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace fenix_simulation {

struct Packet {
  std::vector<std::byte> bytes;
  std::vector<OpenFile> files;
};

/// Both directions. Each end has a number, 0 or 1.
struct Connection {
  std::array<std::deque<Packet>, 2> to;  ///< an end
  std::array<bool, 2> closed{};          ///< by an end
  std::array<bool, 2> reset{};           ///< an end is told once that the other one had not read all
  std::array<Pid, 2> pids{};             ///< who an end is told that the other one is
  std::array<Process*, 2> readers{};     ///< who waits at an end

  void close(int end);
};

struct Socket : Opened {
  Socket() = default;
  void close() override;

  std::string path;
  std::shared_ptr<Connection> connection;
  int end = 0;
  bool listens = false;
  Pid listener = 0;  ///< who has said so
  std::deque<std::shared_ptr<Connection>> waiting;
  Process* reader = nullptr;  ///< of a socket that listens
};

/// Lets somebody look who waits for what has come.
void tell(Process* reader);

}  // namespace fenix_simulation
