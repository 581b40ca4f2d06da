// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/caller.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"

namespace fenix_impl {
namespace {

// Buffers that one lane has lent at once.
constexpr std::size_t kMostBuffers = 8;

/// A lane for the time of a call.
class LaneForCall {
 public:
  LaneForCall(FabricNetwork& network, fi_addr_t address, std::uint64_t key, std::shared_ptr<FabricTally> tally)
      : network_(network), lane_(network.open_lane(address, key, std::move(tally))) {}
  LaneForCall(const LaneForCall&) = delete;
  LaneForCall& operator=(const LaneForCall&) = delete;
  ~LaneForCall() { network_.close_lane(lane_); }
  [[nodiscard]] FabricLane& lane() { return lane_; }

 private:
  FabricNetwork& network_;
  FabricLane& lane_;
};

}  // namespace

void FabricCaller::wait(const FabricLane& lane, std::size_t most, const char* waited_for) {
  std::uint64_t ended = 0;
  std::optional<Deadline> deadline;
  const Backoff backoff;
  while (network_.open_transfers(lane) > most) {
    if (!network_.progress()) backoff.pause();
    network_.check(lane);
    team_.check();
    // As long as something arrives, the peer is there.
    const std::uint64_t now = network_.ended_transfers(lane);
    if (!deadline || now != ended) deadline.emplace();
    ended = now;
    deadline->check(waited_for);
  }
}

void FabricCaller::lend_buffer(const FabricLane& lane, FabricTransfer& piece) {
  wait(lane, kMostBuffers - 1, "earlier transfers");
  piece.buffer = network_.take_buffer(piece.bytes);
  piece.local = piece.buffer->memory.get();
  piece.descriptor = piece.buffer->descriptor();
}

// The bytes land in memory of the network, never straight in the caller's. An answer that comes late, after this call has
// been called off, cannot be stopped by closing anything here, with tcp at least.
void FabricCaller::read(std::span<const Read> reads) {
  std::map<std::pair<fi_addr_t, std::uint64_t>, LaneForCall> lanes;
  for (const Read& each : reads) {
    auto& call = lanes.try_emplace({each.address, each.key}, network_, each.address, each.key, tally_).first->second;
    for_each_piece(each.remote, each.data, [&](FabricTransfer& piece, std::span<const std::byte> to) {
      piece.writes = false;
      lend_buffer(call.lane(), piece);
      piece.destination = each.data.data() + (to.data() - each.data.data());
      network_.post(call.lane(), piece);
    });
  }
  for (auto& [target, call] : lanes) wait(call.lane(), 0, "a read from a peer");
}

}  // namespace fenix_impl
