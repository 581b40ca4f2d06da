// SPDX-License-Identifier: BSD-3-Clause
#include "rma/map_path.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/simd/copy.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

// A region that is not where it was may be that of a rank that has just died. The notice of its death is on its way then, and
// takes a second or more when several die at once. If the process lives, something else is wrong. If the region is still
// there, it is this process that has no memory for it.
void wait_for_notice(Team& team, const RegionAddress& address) {
  constexpr std::chrono::seconds kNoticeTakes{1};
  const Deadline deadline = is_gone(address.pid) ? Deadline() : Deadline(kNoticeTakes);
  while (!deadline.passed()) team.check();
}

Mapping map_region_of_peer(Team& team, const RegionAddress& address) {
  try {
    return map_peer_region(address);
  } catch (const RegionIsGone&) {
    wait_for_notice(team, address);
    throw;
  } catch (const Error&) {
    if (!peer_region_exists(address)) wait_for_notice(team, address);
    throw;
  }
}

/// A rank of this node.
struct Peer {
  RegionAddress address;
  Mapping mapping;                          // none of this rank itself
  std::atomic<std::byte*> region{nullptr};  // null until it is reached
};

class MapRemoteRegions final : public RemoteRegions {
 public:
  // addresses: by place on the node. The team outlives this.
  MapRemoteRegions(Team& team, MapPath::NodeRanks ranks, const Region& own, std::span<const RegionAddress> addresses,
                   KeptRegion kept)
      : team_(team),
        ranks_(std::move(ranks)),
        are_all_(ranks_->size() == static_cast<std::size_t>(team.size())),
        peers_(addresses.size()),
        kept_(std::move(kept)),
        own_(own) {
    for (std::size_t place = 0; place < addresses.size(); ++place) peers_[place].address = addresses[place];
    at(team.rank()).region = own.bytes().data();
  }
  ~MapRemoteRegions() override { own_.end(); }

  [[nodiscard]] int keeps() const override { return kept_.owner(); }
  [[nodiscard]] KeptRegion release_kept() override { return std::exchange(kept_, {}); }

  void reach(int target) override { (void)reached(at(target)); }

  [[nodiscard]] std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) override {
    return part(target, offset, bytes);
  }

  void expect_access(int target, std::size_t offset, std::size_t bytes) override {
    (void)part(target, offset, bytes);
    (void)populate_pages(all_of(target), offset, bytes);
  }

  void reserve(int target, std::size_t offset, std::size_t bytes) override {
    (void)part(target, offset, bytes);
    const RegionAddress& address = at(target).address;
    try {
      reserve_at_peer(address, all_of(target), offset, bytes);
    } catch (const RegionIsGone&) {
      wait_for_notice(team_, address);
      throw;
    }
  }

  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    const auto to = part(target, offset, data.size());
    if (!data.empty()) std::memcpy(to.data(), data.data(), data.size());
  }

  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    const auto from = part(target, offset, data.size());
    if (!data.empty()) std::memcpy(data.data(), from.data(), data.size());
  }

  void flush(int) override { std::atomic_thread_fence(std::memory_order_release); }

  [[nodiscard]] bool is_flushed(int) override { return true; }

  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    auto* word_there = reinterpret_cast<std::uint64_t*>(part(target, offset, words.size_bytes()).data());
    for (const std::uint64_t word : words) std::atomic_ref(*word_there++).store(word, std::memory_order_release);
  }

 private:
  // This and what it calls is part of each store and commit: what is rare is in functions of its own.
  [[nodiscard]] Peer& at(int target) {
    const auto place = static_cast<std::size_t>(target);
    return are_all_ && place < peers_.size() ? peers_[place] : find(target);
  }

  [[nodiscard, gnu::noinline]] Peer& find(int target) {
    const auto found = std::lower_bound(ranks_->begin(), ranks_->end(), target);
    if (found == ranks_->end() || *found != target) throw Error(FENIX_ERROR_INTERN, "the rank is on another node");
    return peers_[static_cast<std::size_t>(found - ranks_->begin())];
  }

  [[nodiscard]] std::byte* reached(Peer& peer) {
    std::byte* const region = peer.region.load(std::memory_order_acquire);
    return region != nullptr ? region : map(peer);
  }

  // Threads of the library never come to this: the team must not be asked there. They use what has been reached.
  [[nodiscard, gnu::noinline]] std::byte* map(Peer& peer) {
    const std::lock_guard lock(mutex_);
    if (std::byte* const region = peer.region.load(std::memory_order_acquire)) return region;
    peer.mapping = map_region_of_peer(team_, peer.address);
    peer.region.store(peer.mapping.bytes().data(), std::memory_order_release);
    return peer.mapping.bytes().data();
  }

  [[nodiscard]] std::span<std::byte> all_of(int target) {
    Peer& peer = at(target);
    return {reached(peer), peer.address.bytes};
  }

  [[nodiscard]] std::span<std::byte> part(int target, std::size_t offset, std::size_t bytes) {
    const auto region = all_of(target);
    if (offset > region.size() || bytes > region.size() - offset) {
      throw Error(FENIX_ERROR_INTERN, "access outside of a peer's region");
    }
    return region.subspan(offset, bytes);
  }

  Team& team_;
  MapPath::NodeRanks ranks_;
  bool are_all_;             // the team is on one node: a rank is its place
  std::mutex mutex_;         // of mapping
  std::vector<Peer> peers_;  // by place
  KeptRegion kept_;
  RegionHold own_;  // also beyond the Region
};

MapPath::NodeRanks ranks_of_node(const Team& team, const std::vector<bool>& near) {
  std::vector<int> ranks;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (near.empty() || near.at(static_cast<std::size_t>(rank))) ranks.push_back(rank);
  }
  return std::make_shared<const std::vector<int>>(std::move(ranks));
}

}  // namespace

std::unique_ptr<RemoteRegions> MapPath::expose(Team& team, const Region& region) {
  std::vector<RegionAddress> addresses;
  try {
    if (!ranks_) ranks_ = ranks_of_node(team, near_);
    addresses = team.gather_among(*ranks_, region.address());
  } catch (const std::bad_alloc&) {
    team.withdraw();  // must not let the others wait
    throw Error(out_of_memory());
  }
  expect_processes_on_node(addresses.size());
  return std::make_unique<MapRemoteRegions>(team, ranks_, region, addresses, keep_region(team, addresses));
}

// step: 1 for the next rank on this node, -1 for the one before.
std::optional<int> MapPath::next_on_node(int self, int ranks, int step) const {
  for (int rank = (self + ranks + step) % ranks; rank != self; rank = (rank + ranks + step) % ranks) {
    if (near_.empty() || near_.at(static_cast<std::size_t>(rank))) return rank;
  }
  return std::nullopt;
}

// A rank keeps that of the rank before it on the node: so each is kept by one other rank. Whether it does is its own affair.
std::set<int> MapPath::adopting_neighbours(const Team& team) const {
  std::set<int> neighbours;
  for (const int step : {-1, 1}) {
    if (const auto rank = next_on_node(team.rank(), team.size(), step)) neighbours.insert(*rank);
  }
  return neighbours;
}

KeptRegion MapPath::keep_region(const Team& team, std::span<const RegionAddress> addresses) const {
  const auto rank = next_on_node(team.rank(), team.size(), -1);
  if (!keeps_ || !rank) return {};
  const auto place = std::lower_bound(ranks_->begin(), ranks_->end(), *rank) - ranks_->begin();
  try {
    return KeptRegion(*rank, addresses[static_cast<std::size_t>(place)]);
  } catch (const Error& error) {
    log().info("what rank {} leaves if it dies cannot be kept: {}", *rank, error.what());
    return {};
  }
}

}  // namespace fenix_impl
