// SPDX-License-Identifier: BSD-3-Clause
// The requests of a rank about the runs of a store: their begin, their end, and wishes that they end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "keeper/client/connection.hpp"
#include "store/halt.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// All throw Error(FENIX_ERROR_STORE), and what check throws.
class RunClient {
 public:
  using Check = KeeperConnection::Check;

  explicit RunClient(KeeperConnection& connection) : connection_(connection) {}

  struct Begun {
    StoreRun run;
    std::string warning;  ///< about the folder of the store; or empty
  };
  /// Begins a new run. Ranks of another one on this node have a while for their end. Throws Error(FENIX_ERROR_STORE) if they do not end, too.
  [[nodiscard]] Begun begin(const Check& check);
  /// Notes that a run has come to its end. limit: for the answer.
  void finish(std::uint32_t run, std::chrono::milliseconds limit, const Check& check);
  /// Returns the wish that a run ends, if there is one. limit: for the answer.
  [[nodiscard]] std::optional<HaltConditions> halt_conditions(std::chrono::milliseconds limit, const Check& check);
  void halt(const HaltConditions& conditions, const Check& check);

 private:
  KeeperConnection& connection_;
};

}  // namespace fenix_impl
