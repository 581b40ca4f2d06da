// SPDX-License-Identifier: BSD-3-Clause
// Transfers of a caller that waits for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "rma/fabric/network.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// All waits end when the transfers do, with what the team's check() throws, or with Error(FENIX_ERROR_TIMEOUT).
class FabricCaller {
 public:
  /// tally: for reads; may be null.
  FabricCaller(FabricNetwork& network, Team& team, std::shared_ptr<FabricTally> tally = nullptr)
      : network_(network), team_(team), tally_(std::move(tally)) {}

  [[nodiscard]] FabricNetwork& network() { return network_; }
  [[nodiscard]] Team& team() { return team_; }

  /// Until no more than so many transfers of the lane are open.
  void wait(const FabricLane& lane, std::size_t most, const char* waited_for);
  /// Lends the piece a buffer for its bytes, when earlier ones of the lane have been given back.
  void lend_buffer(const FabricLane& lane, FabricTransfer& piece);
  /// A read from what is registered with the key; remote as the target counts.
  struct Read {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::uint64_t key = 0;
    std::uint64_t remote = 0;
    std::span<std::byte> data;
  };
  /// Done on return; if it throws, nothing is written to data later on. All reads are under way together.
  void read(std::span<const Read> reads);
  void read(const Read& one) { read(std::span(&one, 1)); }

  /// Calls post with transfers, and the part of data that each is about.
  template <class Post>
  void for_each_piece(std::uint64_t remote, std::span<const std::byte> data, Post&& post) {
    const std::size_t most = std::min(FabricBuffers::kLargest, network_.endpoint().largest_transfer());
    while (!data.empty()) {
      const auto part_of_data = data.first(std::min(data.size(), most));
      FabricTransfer piece;
      piece.remote = remote;
      piece.bytes = part_of_data.size();
      post(piece, part_of_data);
      remote += part_of_data.size();
      data = data.subspan(part_of_data.size());
    }
  }

 private:
  FabricNetwork& network_;
  Team& team_;
  std::shared_ptr<FabricTally> tally_;
};

}  // namespace fenix_impl
