// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node, as a rank knows it: a connection, and what can be asked by it. Threads may use it at the same time.
#pragma once

#include <string>
#include <utility>

#include "keeper/client/connection.hpp"
#include "keeper/client/dataset_client.hpp"
#include "keeper/client/flush_client.hpp"
#include "keeper/client/memory_client.hpp"
#include "keeper/client/run_client.hpp"

namespace fenix_impl {

class KeeperClient {
 public:
  using Check = KeeperConnection::Check;

  /// program: path of fenix-keeper. hello: for it; the root is a folder that exists.
  KeeperClient(std::string program, Hello hello) : connection_(std::move(program), std::move(hello)) {}

  [[nodiscard]] KeeperConnection& connection() { return connection_; }
  [[nodiscard]] RunClient runs() { return RunClient(connection_); }
  [[nodiscard]] FlushClient flushes() { return FlushClient(connection_); }
  [[nodiscard]] DatasetClient datasets() { return DatasetClient(connection_); }
  [[nodiscard]] MemoryClient memory() { return MemoryClient(connection_); }

 private:
  KeeperConnection connection_;
};

}  // namespace fenix_impl
