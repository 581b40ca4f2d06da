// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <list>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "rma/fabric_network.hpp"

namespace fenix_impl {
namespace {

// Buffers that one exposure has lent at once. What lies in its own region is sent from there.
constexpr std::size_t kMostBuffers = 8;

/// The memory that a path has exposed. It stays registered until the path and its exposures have ended, with the team:
/// ranks delete members on their own, and others may still write to those.
struct Registrations {
  explicit Registrations(std::shared_ptr<FabricNetwork> of) : network(std::move(of)) {}

  std::shared_ptr<FabricNetwork> network;
  std::list<FabricMemory> all;
};

/// What a rank tells the others of its region.
struct Card {
  std::uint64_t key = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint32_t registered = 0;
  std::uint32_t provider_length = 0;
  // The provider's name and that of the endpoint follow.
};

/// A region of the team, as this rank reaches it.
struct Target {
  std::shared_ptr<const FabricPeer> peer;
  std::uint64_t key = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  FabricLane* puts = nullptr;  ///< opened with the first put
};

/// A lane for the time of a call.
class LaneForCall {
 public:
  LaneForCall(FabricNetwork& network, const Target& target)
      : network_(network), lane_(network.open_lane(target.peer->address, target.key)) {}
  LaneForCall(const LaneForCall&) = delete;
  LaneForCall& operator=(const LaneForCall&) = delete;
  ~LaneForCall() { network_.close_lane(lane_); }
  [[nodiscard]] FabricLane& lane() { return lane_; }

 private:
  FabricNetwork& network_;
  FabricLane& lane_;
};

class FabricExposure final : public Exposure {
 public:
  FabricExposure(std::shared_ptr<Registrations> registrations, Team& team, std::span<std::byte> own,
                 const FabricMemory& memory, std::vector<Target> targets)
      : registrations_(std::move(registrations)),
        network_(registrations_->network.get()),
        team_(team),
        own_(own),
        descriptor_(memory.descriptor()),
        targets_(std::move(targets)) {}

  ~FabricExposure() override {
    for (const Target& target : targets_) {
      if (target.puts != nullptr) network_->close_lane(*target.puts);
    }
  }

  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    Target& to = part(target, offset, data.size());
    if (data.empty()) return;
    if (target == team_.rank()) {
      std::memcpy(own_.data() + offset, data.data(), data.size());
      return;
    }
    if (to.puts == nullptr) to.puts = &network_->open_lane(to.peer->address, to.key);
    const bool in_own_region = is_own(data);
    for_each_piece(offset, data, [&](FabricTransfer& piece, std::span<const std::byte> from) {
      piece.writes = true;
      if (in_own_region) {
        piece.local = own_.data() + (from.data() - own_.data());
        piece.descriptor = descriptor_;
      } else {
        take_buffer(*to.puts, piece);
        std::memcpy(piece.local, from.data(), from.size());
      }
      piece.remote += to.base;
      network_->post(*to.puts, piece);
    });
  }

  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    const Target& from = part(target, offset, data.size());
    if (data.empty()) return;
    if (target == team_.rank()) {
      std::memcpy(data.data(), own_.data() + offset, data.size());
      return;
    }
    // It lands in memory of the network, and never straight in the caller's: an answer that comes late, after this call
    // has been called off, cannot be stopped by closing anything here, with tcp at least.
    LaneForCall call(*network_, from);
    for_each_piece(offset, data, [&](FabricTransfer& piece, std::span<const std::byte> to) {
      piece.writes = false;
      take_buffer(call.lane(), piece);
      piece.remote += from.base;
      piece.destination = data.data() + (to.data() - data.data());
      network_->post(call.lane(), piece);
    });
    wait(call.lane(), 0, "a read from a peer");
  }

  void complete(int target) override {
    Target& to = targets_.at(static_cast<std::size_t>(target));
    if (to.puts != nullptr) wait(*to.puts, 0, "a write to a peer");
  }

  [[nodiscard]] bool settled(int target) override {
    const Target& to = targets_.at(static_cast<std::size_t>(target));
    if (to.puts == nullptr) return true;
    (void)network_->progress();
    network_->check(*to.puts);
    return network_->open_transfers(*to.puts) == 0;
  }

  // Words of the caller are never in a region: they are sent from a buffer.
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    if (target != team_.rank()) return put(target, offset, std::as_bytes(words));
    (void)part(target, offset, words.size_bytes());
    auto* place = reinterpret_cast<std::uint64_t*>(own_.data() + offset);
    for (const std::uint64_t word : words) std::atomic_ref(*place++).store(word, std::memory_order_release);
  }

 private:
  [[nodiscard]] Target& part(int target, std::size_t offset, std::size_t bytes) {
    Target& reached = targets_.at(static_cast<std::size_t>(target));
    if (offset > reached.bytes || bytes > reached.bytes - offset) {
      throw Error(FENIX_ERROR_INTERN, "access outside of a peer's region");
    }
    return reached;
  }

  [[nodiscard]] bool is_own(std::span<const std::byte> data) const {
    const std::less_equal<> not_after;
    return not_after(own_.data(), data.data()) && not_after(data.data() + data.size(), own_.data() + own_.size());
  }

  /// Calls post with transfers whose remote is an offset, and the part of data that each is about.
  template <class Post>
  void for_each_piece(std::size_t offset, std::span<const std::byte> data, Post&& post) {
    const std::size_t most = std::min(FabricBuffers::kLargest, network_->endpoint().largest_transfer());
    while (!data.empty()) {
      const auto part_of_data = data.first(std::min(data.size(), most));
      FabricTransfer piece;
      piece.remote = offset;
      piece.bytes = part_of_data.size();
      post(piece, part_of_data);
      offset += part_of_data.size();
      data = data.subspan(part_of_data.size());
    }
  }

  void take_buffer(const FabricLane& lane, FabricTransfer& piece) {
    wait(lane, kMostBuffers - 1, "earlier transfers");
    piece.buffer = network_->take_buffer(piece.bytes);
    piece.local = piece.buffer->memory.get();
    piece.descriptor = piece.buffer->descriptor();
  }

  /// Until no more than so many transfers of the lane are open.
  void wait(const FabricLane& lane, std::size_t most, const char* waited_for) {
    std::uint64_t ended = 0;
    std::optional<Deadline> deadline;
    const Backoff backoff;
    while (network_->open_transfers(lane) > most) {
      if (!network_->progress()) backoff.pause();
      network_->check(lane);
      team_.check();
      // As long as something arrives, the peer is there.
      const std::uint64_t now = network_->ended_transfers(lane);
      if (!deadline || now != ended) deadline.emplace();
      ended = now;
      deadline->check(waited_for);
    }
  }

  std::shared_ptr<Registrations> registrations_;
  FabricNetwork* network_;
  Team& team_;
  std::span<std::byte> own_;
  void* descriptor_;
  std::vector<Target> targets_;
};

std::vector<std::byte> encode(const Card& card, const FabricEndpoint& endpoint) {
  const auto card_bytes = std::as_bytes(std::span(&card, 1));
  const auto provider = std::as_bytes(std::span(endpoint.provider()));
  std::vector<std::byte> bytes(card_bytes.begin(), card_bytes.end());
  bytes.insert(bytes.end(), provider.begin(), provider.end());
  bytes.insert(bytes.end(), endpoint.name().begin(), endpoint.name().end());
  return bytes;
}

class FabricPath final : public Path {
 public:
  explicit FabricPath(std::shared_ptr<FabricNetwork> network)
      : network_(network.get()), registrations_(std::make_shared<Registrations>(std::move(network))) {}

  [[nodiscard]] std::string_view name() const override { return "fabric"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return false; }
  // The network reads what was put until that is over; and a target's provider may be in the midst of a write when its
  // key is withdrawn.
  [[nodiscard]] bool may_touch_regions_later() const override { return true; }

  [[nodiscard]] std::uint64_t bytes_fetched() const override { return network_->bytes_fetched(); }

  bool make_progress() override {
    (void)network_->progress();
    return true;
  }

  std::unique_ptr<Exposure> expose(Team& team, const Region& region) override {
    const FabricMemory* memory = nullptr;
    std::optional<Error> error;
    try {
      memory = &register_region(region);
    } catch (const Error& refused) {
      error = refused;
    } catch (const std::bad_alloc&) {
      error = out_of_memory();
    }
    const auto cards = exchange(team, memory, region);
    if (error) throw Error(*error);
    std::vector<Target> targets;
    for (std::size_t rank = 0; rank < cards.size(); ++rank) targets.push_back(target_of(cards[rank], rank));
    network_->forget_unused_peers();
    return std::make_unique<FabricExposure>(registrations_, team, region.bytes(), *memory, std::move(targets));
  }

 private:
  const FabricMemory& register_region(const Region& region) {
    constexpr std::uint64_t kAccess = FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ;
    if (network_->endpoint().demands(FI_MR_ALLOCATED)) region.populate(region.bytes().size());
    return registrations_->all.emplace_back(network_->endpoint(), region.bytes(), kAccess);
  }

  // A rank that has no memory for its part in the collective work must not let the others wait.
  std::vector<std::vector<std::byte>> exchange(Team& team, const FabricMemory* memory, const Region& region) {
    try {
      Card card;
      card.bytes = region.bytes().size();
      card.provider_length = static_cast<std::uint32_t>(network_->endpoint().provider().size());
      if (memory != nullptr) {
        card.registered = 1;
        card.key = memory->key();
        card.base = memory->base();
      }
      const auto mine = encode(card, network_->endpoint());
      return team.gather_lists(std::span<const std::byte>(mine));
    } catch (const std::bad_alloc&) {
      team.withdraw();
      throw Error(out_of_memory());
    }
  }

  Target target_of(std::span<const std::byte> bytes, std::size_t rank) {
    const std::string who = "rank " + std::to_string(rank);
    Card card;
    if (bytes.size() < sizeof card) throw Error(FENIX_ERROR_INTERN, who + " says of its region what cannot be");
    std::memcpy(&card, bytes.data(), sizeof card);
    bytes = bytes.subspan(sizeof card);
    if (card.registered == 0) {
      throw Error(FENIX_ERROR_NO_MEMORY, who + " could not register its memory with the network");
    }
    const auto provider = std::as_bytes(std::span(network_->endpoint().provider()));
    if (bytes.size() < card.provider_length || !std::ranges::equal(bytes.first(card.provider_length), provider)) {
      throw Error(FENIX_ERROR_NO_MEMORY,
                  who + " and this one have different providers of libfabric (FI_PROVIDER chooses one)");
    }
    return {network_->find_peer(bytes.subspan(card.provider_length)), card.key, card.base, card.bytes, nullptr};
  }

  FabricNetwork* network_;
  std::shared_ptr<Registrations> registrations_;
};

}  // namespace

std::shared_ptr<Path> make_fabric_path(std::shared_ptr<FabricNetwork> network) {
  return std::make_shared<FabricPath>(std::move(network));
}

}  // namespace fenix_impl
