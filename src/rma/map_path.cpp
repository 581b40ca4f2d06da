// SPDX-License-Identifier: BSD-3-Clause
#include "rma/map_path.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/copy.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

class MapRemoteRegions final : public RemoteRegions {
 public:
  MapRemoteRegions(std::map<int, Mapping> regions, KeptRegion kept)
      : regions_(std::move(regions)), kept_(std::move(kept)) {}

  [[nodiscard]] int keeps() const override { return kept_.owner(); }
  [[nodiscard]] KeptRegion release_kept() override { return std::exchange(kept_, {}); }

  [[nodiscard]] std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) override {
    return part(target, offset, bytes);
  }

  void expect_access(int target, std::size_t offset, std::size_t bytes) override {
    (void)part(target, offset, bytes);
    (void)regions_.at(target).populate(offset, bytes);
  }

  void reserve(int target, std::size_t offset, std::size_t bytes) override {
    (void)part(target, offset, bytes);
    regions_.at(target).reserve(offset, bytes);
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
  [[nodiscard]] std::span<std::byte> part(int target, std::size_t offset, std::size_t bytes) const {
    const auto region = regions_.at(target).bytes();
    if (offset > region.size() || bytes > region.size() - offset) {
      throw Error(FENIX_ERROR_INTERN, "access outside of a peer's region");
    }
    return region.subspan(offset, bytes);
  }

  std::map<int, Mapping> regions_;  // of the ranks of this node
  KeptRegion kept_;
};

// A region that cannot be mapped may be that of a rank that has just died. The notice of its death is on its way then, and
// takes a second or more when several die at once. If the process lives, something else is wrong. If the region is still
// there, it is this process that has no memory for it.
Mapping map_region_of_peer(Team& team, const RegionAddress& address) {
  constexpr std::chrono::seconds kNoticeTakes{1};
  try {
    return map_peer_region(address);
  } catch (const Error&) {
    if (peer_region_exists(address)) throw;
    const Deadline deadline = is_gone(address.pid) ? Deadline() : Deadline(kNoticeTakes);
    while (!deadline.passed()) team.check();
    throw;
  }
}

// Gathers the addresses of the ranks that are near. A rank without memory for its part must not let the others wait.
std::map<int, RegionAddress> addresses_of(Team& team, const Region& region, const std::vector<bool>& near) {
  try {
    std::map<int, RegionAddress> addresses;
    if (std::find(near.begin(), near.end(), false) == near.end()) {
      for (const RegionAddress& address : team.gather(region.address())) {
        addresses.emplace(static_cast<int>(addresses.size()), address);
      }
      return addresses;
    }
    std::vector<int> peers;
    for (int rank = 0; rank < team.size(); ++rank) {
      if (rank != team.rank() && near.at(static_cast<std::size_t>(rank))) peers.push_back(rank);
    }
    addresses = team.ask(peers, region.address());
    addresses.emplace(team.rank(), region.address());
    return addresses;
  } catch (const std::bad_alloc&) {
    team.withdraw();
    throw Error(out_of_memory());
  }
}

}  // namespace

std::unique_ptr<RemoteRegions> MapPath::expose(Team& team, const Region& region) {
  const auto addresses = addresses_of(team, region, near_);
  expect_processes_on_node(addresses.size());
  std::map<int, Mapping> regions;
  for (const auto& [rank, address] : addresses) regions.emplace(rank, map_region_of_peer(team, address));
  return std::make_unique<MapRemoteRegions>(std::move(regions), keep_region(team, addresses));
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

KeptRegion MapPath::keep_region(const Team& team, const std::map<int, RegionAddress>& addresses) const {
  const auto rank = next_on_node(team.rank(), team.size(), -1);
  if (!keeps_ || !rank) return {};
  try {
    return KeptRegion(*rank, addresses.at(*rank));
  } catch (const Error& error) {
    log().info("what rank {} leaves if it dies cannot be kept: {}", *rank, error.what());
    return {};
  }
}

}  // namespace fenix_impl
