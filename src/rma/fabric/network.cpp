// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/network.hpp"

#include <rdma/fi_rma.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

// Pieces of a lane that the network has at once: enough to keep it busy, few enough to be called off soon.
constexpr std::size_t kWindow = 16;

// A connection may break without a death: a target that refuses what was called off breaks it for all. What fails is
// tried again, until it has failed for so long; the notice of a death comes sooner.
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kBeforeNextTry{10};

// The thread of libfabric's tcp;ofi_rxm at a target that makes no calls may sleep though it has something to send (1.17). It
// wakes up when something arrives. A target that only takes long does not mind.
constexpr std::chrono::milliseconds kBeforeNudge{200};

}  // namespace

std::string provider_of(const FabricNetwork& network) { return std::string(network.endpoint().provider()); }

FabricNetwork::~FabricNetwork() {
  // Only then is it certain that nobody touches buffers and transfers any more.
  buffers_.close_registrations();
  endpoint_.close();
}

// ------------------------------------------------------------------------------------------------------------- peers

std::shared_ptr<const FabricPeer> FabricNetwork::find_peer(std::span<const std::byte> name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<FabricPeer>& peer = peers_[{reinterpret_cast<const char*>(name.data()), name.size()}];
  if (peer) return peer;
  auto inserted = std::make_shared<FabricPeer>();
  const int count = fi_av_insert(endpoint_.addresses(), name.data(), 1, &inserted->address, 0, nullptr);
  if (count != 1) throw Error(FENIX_ERROR_NO_MEMORY, "the network does not take the address of a peer");
  peer = std::move(inserted);
  return peer;
}

void FabricNetwork::forget_unused_peers() {
  const std::lock_guard lock(mutex_);
  std::erase_if(peers_, [&](const auto& entry) {
    if (entry.second && entry.second.use_count() > 1) return false;
    if (entry.second) (void)fi_av_remove(endpoint_.addresses(), &entry.second->address, 1, 0);
    return true;
  });
}

// ------------------------------------------------------------------------------------------------------------- lanes

FabricLane& FabricNetwork::open_lane(fi_addr_t address, std::uint64_t key, std::shared_ptr<FabricTally> tally) {
  const std::lock_guard lock(mutex_);
  FabricLane& lane = lanes_.emplace_back();
  lane.address = address;
  lane.key = key;
  lane.tally = std::move(tally);
  lane.before_nudge = kBeforeNudge;
  return lane;
}

void FabricNetwork::close_lane(FabricLane& lane) noexcept {
  const std::lock_guard lock(mutex_);
  lane.abandoned = true;
  while (!lane.waiting.empty()) discard(lane.waiting, lane.waiting.begin());
  // One with transfers under way goes when they are over. If they never are, because the peer has died, it stays with
  // its buffers.
  std::erase_if(lanes_, [](const FabricLane& each) { return each.abandoned && each.under_way.empty(); });
}

FabricBuffer* FabricNetwork::take_buffer(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return buffers_.take(bytes);
}

void FabricNetwork::keep_until_closed(std::unique_ptr<std::byte[]> memory) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    kept_.push_front(std::move(memory));
  } catch (const std::bad_alloc&) {
    (void)memory.release();  // better lost than given to somebody else
  }
}

void FabricNetwork::post(FabricLane& lane, const FabricTransfer& transfer) {
  const std::lock_guard lock(mutex_);
  try {
    lane.waiting.push_back(transfer);
  } catch (...) {
    if (transfer.buffer != nullptr) buffers_.give_back(transfer.buffer);
    throw;
  }
  lane.waiting.back().lane = &lane;
  lane.waiting.back().position = std::prev(lane.waiting.end());
  (void)feed(lane);
}

std::size_t FabricNetwork::open_transfers(const FabricLane& lane) const {
  const std::lock_guard lock(mutex_);
  return lane.waiting.size() + lane.under_way.size();
}

std::uint64_t FabricNetwork::ended_transfers(const FabricLane& lane) const {
  const std::lock_guard lock(mutex_);
  return lane.ended;
}

bool FabricNetwork::are_over(const FabricTally& tally) const {
  const std::lock_guard lock(mutex_);
  return !tally.some_failed && std::none_of(lanes_.begin(), lanes_.end(), [&](const FabricLane& lane) {
    return lane.tally.get() == &tally && !(lane.waiting.empty() && lane.under_way.empty());
  });
}

std::uint64_t FabricNetwork::bytes_fetched() const {
  const std::lock_guard lock(mutex_);
  return bytes_fetched_;
}

bool FabricNetwork::has_failed(const FabricLane& lane) const {
  const std::lock_guard lock(mutex_);
  return lane.error != 0;
}

void FabricNetwork::check(const FabricLane& lane) const {
  const std::lock_guard lock(mutex_);
  if (lane.error == 0 || FabricLane::Clock::now() - lane.failing_since < kPatience) return;
  throw Error(FENIX_ERROR_TIMEOUT, "a peer cannot be reached by the network (" +
                                       endpoint_.library().text_of(lane.error) + "), and has not been reported dead");
}

// ---------------------------------------------------------------------------------------------------------- progress

bool FabricNetwork::progress() {
  const std::lock_guard lock(mutex_);
  bool moved = reap();
  for (FabricLane& lane : lanes_) {
    moved = feed(lane) || moved;
    nudge_if_quiet(lane);
  }
  return moved;
}

// Less and less often: the buffers of reads that never end are kept.
void FabricNetwork::nudge_if_quiet(FabricLane& lane) {
  if (lane.under_way.empty() || lane.abandoned) return;
  const auto now = FabricLane::Clock::now();
  if (now - lane.last_moved < lane.before_nudge) return;
  lane.last_moved = now;
  lane.before_nudge *= 2;
  try {
    nudge(lane);
  } catch (const std::bad_alloc&) {
    // It goes without.
  } catch (const Error&) {
  }
}

void FabricNetwork::nudge(const FabricLane& lane) {
  std::list<FabricTransfer> only(1);
  FabricTransfer& piece = only.front();
  piece.writes = false;
  piece.remote = lane.under_way.front().remote;
  piece.bytes = 1;
  FabricLane& own = lanes_.emplace_back();
  own.address = lane.address;
  own.key = lane.key;
  own.tally = lane.tally;
  own.abandoned = true;
  try {
    piece.buffer = buffers_.take(piece.bytes);
  } catch (...) {
    lanes_.pop_back();
    throw;
  }
  piece.local = piece.buffer->memory.get();
  piece.descriptor = piece.buffer->descriptor();
  piece.lane = &own;
  piece.position = only.begin();
  own.under_way.splice(own.under_way.end(), only);
  log().debug("fabric: nothing has moved for {} ms",
              std::chrono::duration_cast<std::chrono::milliseconds>(lane.before_nudge / 2).count());
  if (send(piece) != 0) end(piece);
}

bool FabricNetwork::reap() {
  std::array<fi_cq_entry, 16> entries{};
  const ssize_t count = fi_cq_read(endpoint_.completions(), entries.data(), entries.size());
  for (ssize_t i = 0; i < count; ++i) {
    auto* context = static_cast<fi_context2*>(entries[static_cast<std::size_t>(i)].op_context);
    if (context != nullptr) end(static_cast<FabricTransfer&>(*context));
  }
  if (count != -FI_EAVAIL) return count > 0;
  fi_cq_err_entry failed{};
  if (fi_cq_readerr(endpoint_.completions(), &failed, 0) < 1) return false;
  auto* context = static_cast<fi_context2*>(failed.op_context);
  if (context != nullptr) fail(static_cast<FabricTransfer&>(*context), failed.err);
  return true;
}

bool FabricNetwork::feed(FabricLane& lane) {
  if (lane.waiting.empty() || lane.abandoned) return false;
  if (lane.error != 0 && FabricLane::Clock::now() < lane.next_try) return false;
  bool moved = false;
  while (!lane.waiting.empty() && lane.under_way.size() < kWindow) {
    const ssize_t result = send(lane.waiting.front());
    // Full, or connecting, or the peer has died: only time tells.
    if (result == -FI_EAGAIN) break;
    lane.under_way.splice(lane.under_way.end(), lane.waiting, lane.waiting.begin());
    lane.last_moved = FabricLane::Clock::now();
    if (result != 0) {
      fail(lane.under_way.back(), static_cast<int>(-result));
      break;
    }
    moved = true;
  }
  return moved;
}

ssize_t FabricNetwork::send(FabricTransfer& transfer) {
  const iovec local{transfer.local, transfer.bytes};
  const fi_rma_iov remote{transfer.remote, transfer.bytes, transfer.lane->key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &transfer.descriptor;
  message.iov_count = 1;
  message.addr = transfer.lane->address;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = static_cast<fi_context2*>(&transfer);
  // Without FI_DELIVERY_COMPLETE, "complete" may mean no more than that the bytes are in a socket of this node.
  return transfer.writes ? fi_writemsg(endpoint_.endpoint(), &message, FI_DELIVERY_COMPLETE | FI_COMPLETION)
                         : fi_readmsg(endpoint_.endpoint(), &message, FI_COMPLETION);
}

void FabricNetwork::end(FabricTransfer& transfer) {
  FabricLane& lane = *transfer.lane;
  // The memory of the caller of an abandoned read may be gone.
  if (!lane.abandoned && transfer.destination != nullptr) {
    std::memcpy(transfer.destination, transfer.local, transfer.bytes);
  }
  if (transfer.destination != nullptr) bytes_fetched_ += transfer.bytes;
  lane.error = 0;
  ++lane.ended;
  lane.last_moved = FabricLane::Clock::now();
  lane.before_nudge = kBeforeNudge;
  discard(lane.under_way, transfer.position);
  if (lane.abandoned && lane.under_way.empty()) {
    lanes_.remove_if([&](const FabricLane& each) { return &each == &lane; });
  }
}

void FabricNetwork::fail(FabricTransfer& transfer, int error) {
  FabricLane& lane = *transfer.lane;
  if (lane.tally) lane.tally->some_failed = true;
  if (lane.abandoned) {
    end(transfer);
    return;
  }
  const auto now = FabricLane::Clock::now();
  if (lane.error == 0) {
    log().debug("fabric: a transfer has failed: {}", endpoint_.library().text_of(error));
    lane.failing_since = now;
  }
  lane.error = error;
  lane.next_try = now + kBeforeNextTry;
  lane.waiting.splice(lane.waiting.begin(), lane.under_way, transfer.position);
}

void FabricNetwork::discard(std::list<FabricTransfer>& transfers, std::list<FabricTransfer>::iterator each) noexcept {
  if (each->buffer != nullptr) buffers_.give_back(each->buffer);
  transfers.erase(each);
}

}  // namespace fenix_impl
