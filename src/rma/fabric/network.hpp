// SPDX-License-Identifier: BSD-3-Clause
// Transfers under way: pieces of writes and reads, in lanes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/lived_clock.hpp"
#include "rma/fabric/endpoint.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/fabric/memory.hpp"

namespace fenix_impl {

/// The address of another process, as long as somebody uses it.
struct FabricPeer {
  fi_addr_t address = FI_ADDR_UNSPEC;
};

/// A piece of a write or read. Its address is what libfabric gives back when it is over, and the object is there until
/// then: an abandoned one, too.
struct FabricTransfer : fi_context2 {
  bool writes = true;
  std::byte* local = nullptr;  ///< what is sent, or where it lands
  void* descriptor = nullptr;
  std::uint64_t remote = 0;  ///< as the target counts: with its base
  std::size_t bytes = 0;
  FabricBuffer* buffer = nullptr;    ///< that local lies in, if it does
  std::byte* destination = nullptr;  ///< of a read: where it is copied to when it has landed
  struct FabricLane* lane = nullptr;
  std::list<FabricTransfer>::iterator position;
};

/// A note about the transfers of some lanes, kept by the network.
struct FabricTally {
  bool some_failed = false;  ///< at some time: what was sent may still lie in a buffer of the target
};

/// Transfers with one registration of one peer, in no order. Belongs to the network, and is used through it.
struct FabricLane {
  using Clock = LivedClock;

  fi_addr_t address = FI_ADDR_UNSPEC;
  std::uint64_t key = 0;
  std::shared_ptr<FabricTally> tally;  ///< null if nobody asks for it
  std::list<FabricTransfer> waiting;
  std::list<FabricTransfer> under_way;
  bool abandoned = false;
  std::uint64_t ended = 0;  ///< transfers that have been carried out
  int error = 0;            ///< of libfabric; 0 if the latest transfer to end was carried out
  Clock::time_point failing_since;
  Clock::time_point next_try;
  Clock::time_point last_moved;  ///< last time that a transfer was sent or ended, or that the target was nudged
  Clock::duration before_nudge;  ///< how long nothing moves before the target is nudged
};

/// All functions can be called from any thread, and none waits.
class FabricNetwork {
 public:
  /// Throws Error(FENIX_ERROR_GROUP_CREATE).
  FabricNetwork() : buffers_(endpoint_) {}
  FabricNetwork(const FabricNetwork&) = delete;
  FabricNetwork& operator=(const FabricNetwork&) = delete;
  /// All lanes must have been closed.
  ~FabricNetwork();

  [[nodiscard]] const FabricEndpoint& endpoint() const { return endpoint_; }
  /// Whether all memory that is registered becomes real, used or not.
  [[nodiscard]] bool makes_memory_real() const { return makes_memory_real_; }
  /// Once, before the network is shared.
  void set_makes_memory_real(bool real) { makes_memory_real_ = real; }

  /// The peer of that name. Throws Error(FENIX_ERROR_NO_MEMORY).
  std::shared_ptr<const FabricPeer> find_peer(std::span<const std::byte> name);
  /// Removes the addresses of those that nobody uses any more: they are dead, or in none of this process's teams.
  void forget_unused_peers();

  FabricLane& open_lane(fi_addr_t address, std::uint64_t key, std::shared_ptr<FabricTally> tally);
  /// Nothing more is sent, no caller's memory is touched any more, and buffers of what is under way are kept until that
  /// is over.
  void close_lane(FabricLane& lane) noexcept;

  /// Lends a buffer of at least so many bytes. Throws Error(FENIX_ERROR_NO_MEMORY) and std::bad_alloc.
  FabricBuffer* take_buffer(std::size_t bytes);
  /// Keeps memory that peers may still be reading, as long as they can.
  void keep_until_closed(std::unique_ptr<std::byte[]> memory) noexcept;

  /// Sends it, now or later. A buffer goes back when it has been carried out or the lane is closed. Throws
  /// std::bad_alloc.
  void post(FabricLane& lane, const FabricTransfer& transfer);

  /// Takes note of what has ended, and sends what waits for that. False if nothing has changed.
  bool progress();
  /// Transfers of a lane that have not been carried out.
  [[nodiscard]] std::size_t open_transfers(const FabricLane& lane) const;
  /// Transfers of a lane that have been carried out so far.
  [[nodiscard]] std::uint64_t ended_transfers(const FabricLane& lane) const;
  /// Whether all transfers of the lanes with that tally have been carried out, each at the first try.
  [[nodiscard]] bool are_over(const FabricTally& tally) const;
  /// By all reads so far.
  [[nodiscard]] std::uint64_t bytes_fetched() const;
  /// Whether the latest transfer of a lane to end has failed.
  [[nodiscard]] bool has_failed(const FabricLane& lane) const;
  /// Throws Error(FENIX_ERROR_TIMEOUT) if transfers of a lane have failed, again and again, for some seconds.
  void check(const FabricLane& lane) const;

 private:
  bool reap();
  bool feed(FabricLane& lane);
  ssize_t send(FabricTransfer& transfer);
  void nudge_if_quiet(FabricLane& lane);
  /// Reads a byte of what the oldest transfer of a lane is about, so that something arrives at its target.
  void nudge(const FabricLane& lane);
  void end(FabricTransfer& transfer);
  void fail(FabricTransfer& transfer, int error);
  void discard(std::list<FabricTransfer>& transfers, std::list<FabricTransfer>::iterator each) noexcept;

  mutable std::mutex mutex_;
  std::forward_list<std::unique_ptr<std::byte[]>> kept_;
  FabricEndpoint endpoint_;
  FabricBuffers buffers_;
  std::map<std::string, std::shared_ptr<FabricPeer>> peers_;  // by name
  std::list<FabricLane> lanes_;
  std::uint64_t bytes_fetched_ = 0;
  bool makes_memory_real_ = false;
};

}  // namespace fenix_impl
