// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/probe.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/signals_blocked.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kForOthers = FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ;
constexpr std::size_t kFew = 64;
constexpr std::size_t kProbedBytes = std::size_t{256} << 10;
// A provider has that long to end a write to this process itself.
constexpr std::chrono::seconds kMostWait{10};

std::vector<std::byte> pattern_of(int round, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(i * 7 + i / 256 + static_cast<unsigned>(round));
  return data;
}

// Some networks demand that memory is there.
void take(Region& region) {
  region.reserve(0, region.bytes().size());
  region.populate(region.bytes().size());
}

std::size_t bytes_there(const Region& region) {
  struct stat status {};
  constexpr std::size_t kBlock = 512;
  return fstat(region.file()->get(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * kBlock : 0;
}

}  // namespace

FabricProbe::FabricProbe(FabricNetwork& network)
    : network_(network), self_(network.find_peer(network.endpoint().name())), region_(kProbedBytes) {
  take(region_);
}

FabricFinding FabricProbe::bad(const char* what, const std::string& does) const {
  return {what, "provider " + provider_of(network_) + " " + does, false};
}

std::unique_ptr<FabricMemory> FabricProbe::registered(const Region& region) {
  return std::make_unique<FabricMemory>(network_.endpoint(), region.bytes(), kForOthers);
}

FabricProbe::End FabricProbe::write(std::uint64_t key, std::uint64_t remote, std::span<const std::byte> data,
                                    OnError on_error) {
  FabricTransfer piece;
  piece.remote = remote;
  piece.bytes = data.size();
  piece.buffer = network_.take_buffer(data.size());
  piece.local = piece.buffer->memory.get();
  piece.descriptor = piece.buffer->descriptor();
  std::memcpy(piece.local, data.data(), data.size());
  FabricLane& lane = network_.open_lane(self_->address, key, nullptr);
  End end = End::none;
  bool has_failed = false;
  try {
    network_.post(lane, piece);
    const Deadline deadline(kMostWait);
    const Backoff backoff;
    while (end == End::none && !deadline.passed()) {
      if (!network_.progress()) backoff.pause();
      if (network_.open_transfers(lane) == 0) end = End::done;
      has_failed = has_failed || network_.has_failed(lane);
      if (has_failed && on_error == OnError::is_refused) end = End::refused;
    }
  } catch (...) {
    network_.close_lane(lane);
    hold_.emplace(region_);
    throw;
  }
  network_.close_lane(lane);
  if (end != End::done || has_failed) hold_.emplace(region_);
  return end;
}

FabricFinding FabricProbe::keys() {
  const auto first = registered(region_);
  try {
    const auto second = registered(region_);
    return {"keys", "each registration has a key of its own", true};
  } catch (const Error& error) {
    return bad("keys",
               std::string("does not register memory once more under another key (") + error.what() +
                   "): where registrations are cached, FI_MR_CACHE_MAX_COUNT=0 before the program starts may end that");
  }
}

FabricFinding FabricProbe::fences() {
  auto memory = registered(region_);
  const std::uint64_t key = memory->key();
  const std::uint64_t remote = memory->base() + Region::kHeaderBytes;
  if (write(key, remote, pattern_of(1, kFew)) != End::done)
    return bad("fences",
               "does not carry out a write of a process to itself: nobody can tell what it does with withdrawn keys");
  memory.reset();
  const auto late = pattern_of(2, kFew);
  const End end = write(key, remote, late, OnError::is_refused);
  if (end == End::done || std::ranges::equal(place(region_).first(kFew), late)) {
    return bad(
        "fences",
        "carries out a write under a withdrawn key: a rank that counts as dead could change data with a late one");
  }
  if (end == End::none) return bad("fences", "does not say what has become of a write under a withdrawn key");
  return {"fences", "a write under a withdrawn key is refused", true};
}

FabricFinding FabricProbe::delivery(int writes) {
  const auto memory = registered(region_);
  const std::size_t most = std::min(kProbedBytes, network_.endpoint().largest_transfer());
  for (int round = 0; round < writes; ++round) {
    const std::size_t bytes = round % 2 == 0 ? std::min<std::size_t>(most, 8U << (round % 13)) : most;
    const auto data = pattern_of(round, bytes);
    if (write(memory->key(), memory->base() + Region::kHeaderBytes, data) != End::done)
      return bad("delivery",
                 "does not carry out a write of " + std::to_string(bytes) + " bytes of a process to itself");
    if (!std::ranges::equal(place(region_).first(bytes), data))
      return bad("delivery", "says that a write has been delivered (FI_DELIVERY_COMPLETE) before its bytes are there");
  }
  return {"delivery", "bytes are there when a write of them has ended, in " + std::to_string(writes) + " writes", true};
}

bool FabricProbe::makes_memory_real() {
  if (network_.endpoint().demands(FI_MR_ALLOCATED)) return true;
  const Region sparse(kProbedBytes);
  const std::size_t before = bytes_there(sparse);
  const auto memory = registered(sparse);
  return bytes_there(sparse) > before;
}

FabricFinding FabricProbe::memory() {
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const std::string lock = "ulimit -l is " + (is_limited ? std::to_string(limit.rlim_cur >> 10) + " KiB" : "unlimited");
  if (!makes_memory_real()) return {"memory", "only what is used becomes memory; " + lock, true};
  Region region(std::size_t{64} << 20);
  take(region);
  try {
    (void)registered(region);
  } catch (const Error& error) {
    return bad("memory", std::string("does not take 64 MiB (") + error.what() + "); " + lock);
  }
  if (is_limited) return bad("memory", "makes all of a region real, and " + lock + ": it should be unlimited");
  return {"memory", "all of a region becomes memory; " + lock, true};
}

FabricFinding FabricProbe::registrations() {
  constexpr std::size_t kEnough = 1000;
  std::vector<Region> regions;
  std::vector<std::unique_ptr<FabricMemory>> all;
  std::string error;
  try {
    while (all.size() < kEnough) {
      take(regions.emplace_back(1));
      all.push_back(registered(regions.back()));
    }
  } catch (const Error& refused) {
    error = refused.what();
  }
  const std::string number = std::to_string(all.size());
  if (error.empty()) return {"registrations", "at least " + number, true};
  return bad("registrations", "has no more than " + number + " (" + error +
                                  "): a group takes 3, and each member 1, or 2 where the library allocates its buffer");
}

FabricFinding FabricProbe::sizes() {
  const std::size_t most = network_.endpoint().largest_transfer();
  if (most >= FabricBuffers::kLargest) return {"sizes", "writes of 1 MiB", true};
  constexpr std::size_t kEnough = 4096;
  const std::string text = "writes of up to " + std::to_string(most) + " bytes";
  if (most >= kEnough) return {"sizes", text, true};
  return bad("sizes", "has " + text + " only: data is sent in very small pieces");
}

void refuse_unfit(FabricNetwork& network) {
  FabricProbe probe(network);
  const auto check = [](const FabricFinding& found) {
    if (!found.good) throw UnfitProvider("there is no fabric path: " + found.found);
  };
  check(probe.keys());
  check(probe.delivery(4));
  check(probe.fences());
  network.set_makes_memory_real(probe.makes_memory_real());
}

std::shared_ptr<FabricNetwork> open_fabric(Unfit unfit) {
  const SignalActionsKept actions;
  const SignalsBlocked signals;  // also for the threads of libfabric
  auto network = std::make_shared<FabricNetwork>();
  if (unfit == Unfit::is_refused) refuse_unfit(*network);
  return network;
}

std::vector<FabricFinding> examine_fabric() {
  const auto network = open_fabric(Unfit::is_taken);
  FabricProbe probe(*network);
  std::vector<FabricFinding> all{{"provider", provider_of(*network), true}};
  all.push_back(probe.keys());
  if (!all.back().good) return all;  // nothing can be registered any more
  all.push_back(probe.delivery(100));
  if (!all.back().good) return all;  // and nothing can be said of what is written late
  all.push_back(probe.fences());
  all.push_back(probe.memory());
  all.push_back(probe.registrations());
  all.push_back(probe.sizes());
  return all;
}

}  // namespace fenix_impl
