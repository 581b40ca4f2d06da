// SPDX-License-Identifier: BSD-3-Clause
// Finds out what a provider of libfabric does, as far as a process can by itself: it writes to its own endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rma/fabric/fabric.hpp"
#include "rma/fabric/memory.hpp"
#include "rma/fabric/network.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// Each function looks at one thing, and throws Error(FENIX_ERROR_NO_MEMORY). Waits have an end after seconds.
class FabricProbe {
 public:
  explicit FabricProbe(FabricNetwork& network);

  /// Whether memory gets another key each time that it is registered, also while it is registered.
  FabricFinding keys();
  /// Whether a withdrawn key is refused.
  FabricFinding fences();
  /// Whether bytes are there when a write of them has ended.
  FabricFinding delivery(int writes);
  /// Whether registered memory becomes real.
  [[nodiscard]] bool makes_memory_real();
  FabricFinding memory();
  /// How many registrations there can be.
  FabricFinding registrations();
  FabricFinding sizes();

 private:
  enum class End { done, refused, none };
  /// Meaning of an error of a write. Where it says nothing yet, the network tries again, as it does for groups.
  enum class OnError { is_refused, is_tried_again };

  [[nodiscard]] FabricFinding bad(const char* what, const std::string& does) const;
  [[nodiscard]] std::unique_ptr<FabricMemory> registered(const Region& region);
  End write(std::uint64_t key, std::uint64_t remote, std::span<const std::byte> data,
            OnError on_error = OnError::is_tried_again);
  [[nodiscard]] static std::span<std::byte> place(const Region& region) {
    return region.bytes().subspan(Region::kHeaderBytes);
  }

  FabricNetwork& network_;
  std::shared_ptr<const FabricPeer> self_;
  Region region_;
  std::optional<RegionHold> hold_;  // there once a write has not ended well: it may come later
};

/// Throws UnfitProvider if a group would not be safe with it. Takes some milliseconds.
void refuse_unfit(FabricNetwork& network);

}  // namespace fenix_impl
