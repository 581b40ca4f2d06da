// SPDX-License-Identifier: BSD-3-Clause
// The requests of a rank about memory that the keeper of its node keeps for the next job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "keeper/client/connection.hpp"

namespace fenix_impl {

/// All throw Error(FENIX_ERROR_STORE), and what check throws. Those without a check do not wait.
class MemoryClient {
 public:
  using Check = KeeperConnection::Check;

  explicit MemoryClient(KeeperConnection& connection) : connection_(connection) {}

  /// Memory of a group on a rank of an earlier run, as the keeper of this node has it.
  struct KeptGroup {
    std::vector<std::byte> description;
    KeptGroupAt at;
  };
  /// Keeps the memory of a group on this rank for the next job. regions: in the order of the description. Returns the number() of the
  /// connection by which it goes.
  std::uint64_t keep_group(const KeptGroupOf& of, std::span<const std::byte> description, std::span<const int> regions);
  /// Has it forgotten, and what is older of the group on this rank.
  void drop_group(const KeptGroupOf& of);
  /// Returns the memory that the rank of this number had in an earlier run, or nullopt. Processes of that run have a while for their end.
  /// limit: for all of this.
  [[nodiscard]] std::optional<KeptGroup> kept_group(const KeptSearch& search, std::chrono::milliseconds limit,
                                                    const Check& check);
  /// Returns whose memory the keeper has.
  [[nodiscard]] std::vector<KeptGroupOf> kept_groups(const Check& check);
  /// Has snapshots forgotten that were deleted, if they are kept.
  void drop_snapshots(const Dropped& dropped);
  /// Has commits of earlier runs written that nobody has taken, and forgets their memory. run: this one.
  void release(std::uint32_t run);
  /// Has the memory of a run forgotten, as it has come to its end.
  void forget(std::uint32_t run);

 private:
  KeeperConnection& connection_;
};

}  // namespace fenix_impl
