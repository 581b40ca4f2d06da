// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/available_memory.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/signals_blocked.hpp"
#include "rma/exposures.hpp"
#include "rma/fabric/caller.hpp"
#include "rma/fabric/directory.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/fabric/network.hpp"

namespace fenix_impl {
namespace {

// Takes memory for all of a region before the network does, which would go on until the system kills processes.
void make_real(const Region& region) {
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  const std::size_t all = region.bytes().size();
  const auto missing = [&] {
    struct stat status {};
    if (fstat(region.file()->get(), &status) != 0) throw Error(FENIX_ERROR_INTERN, "a region has no file");
    return all - std::min(all, static_cast<std::size_t>(status.st_blocks) * kBlock);
  };
  const auto refuse = [&] {
    throw Error(FENIX_ERROR_NO_MEMORY, "the network needs memory for all of a region, " + std::to_string(missing()) +
                                           " bytes more, and they are not there");
  };
  const SignalsBlocked signals;  // the system may begin a piece anew for each
  for (std::size_t offset = 0; missing() > 0 && offset < all; offset += kPiece) {
    const std::size_t piece = std::min(kPiece, all - offset);
    // Before each piece: other ranks of the node take memory at the same time.
    if (missing() > available_memory() || fault_fails("fabric.memory") ||
        posix_fallocate(region.file()->get(), static_cast<off_t>(offset), static_cast<off_t>(piece)) != 0)
      refuse();
  }
  region.populate(all);
}

/// The right of others to access a region, and a note of this rank's transfers toward theirs.
struct FabricExposed {
  FabricMemory memory;
  std::shared_ptr<FabricTally> tally = std::make_shared<FabricTally>();
};

/// The part that the remote regions of a team share. Memory stays registered until all ranks have destroyed the remote regions, or the
/// team has ended: ranks delete members on their own, and others may still write to those.
struct FabricTeam {
  explicit FabricTeam(std::shared_ptr<FabricNetwork> of) : network(std::move(of)) {}

  std::shared_ptr<FabricNetwork> network;
  Exposures exposures;
  std::map<std::uint32_t, FabricExposed> exposed;  ///< by number; ends before the memory is given up
  std::unique_ptr<FabricDirectory> directory;      ///< made with the first remote regions
  std::uint32_t made = 0;
};

/// A region of the team, as this rank reaches it.
struct Target {
  FabricTarget found;
  FabricLane* puts = nullptr;  ///< opened with the first put
};

class FabricRemoteRegions final : public RemoteRegions {
 public:
  FabricRemoteRegions(std::shared_ptr<FabricTeam> shared, Team& team, std::span<std::byte> own,
                      const FabricExposed& exposed, std::uint32_t number)
      : shared_(std::move(shared)),
        network_(shared_->network.get()),
        tally_(exposed.tally),
        caller_(*network_, team, tally_),
        own_(own),
        descriptor_(exposed.memory.descriptor()),
        number_(number) {}

  ~FabricRemoteRegions() override {
    for (const auto& [rank, target] : targets_) {
      if (target.puts != nullptr) network_->close_lane(*target.puts);
    }
    shared_->exposures.close(number_);
  }

  void expect_access(int target, std::size_t offset, std::size_t bytes) override {
    if (target != caller_.team().rank()) (void)part(target, offset, bytes);
  }

  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    if (target == caller_.team().rank()) {
      const auto to = own_part(offset, data.size());
      if (!data.empty()) std::memcpy(to.data(), data.data(), data.size());
      return;
    }
    Target& to = part(target, offset, data.size());
    if (data.empty()) return;
    if (to.puts == nullptr) to.puts = &network_->open_lane(to.found.peer->address, to.found.region.key, tally_);
    const bool in_own_region = is_own(data);
    caller_.for_each_piece(to.found.region.base + offset, data,
                           [&](FabricTransfer& piece, std::span<const std::byte> from) {
                             if (in_own_region) {
                               piece.local = own_.data() + (from.data() - own_.data());
                               piece.descriptor = descriptor_;
                             } else {
                               caller_.lend_buffer(*to.puts, piece);
                               std::memcpy(piece.local, from.data(), from.size());
                             }
                             network_->post(*to.puts, piece);
                           });
  }

  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    const RemotePart part{target, offset, data};
    get_all({&part, 1});
  }

  void get_all(std::span<const RemotePart> parts) override {
    std::vector<FabricCaller::Read> reads;
    for (const auto& [target, offset, data] : parts) {
      if (target == caller_.team().rank()) {
        const auto from = own_part(offset, data.size());
        if (!data.empty()) std::memcpy(data.data(), from.data(), data.size());
        continue;
      }
      const FabricTarget& from = part(target, offset, data.size()).found;
      reads.push_back({from.peer->address, from.region.key, from.region.base + offset, data});
    }
    caller_.read(reads);
  }

  void flush(int target) override {
    if (const FabricLane* puts = puts_to(target)) caller_.wait(*puts, 0, "a write to a peer");
  }

  [[nodiscard]] bool is_flushed(int target) override {
    const FabricLane* puts = puts_to(target);
    if (puts == nullptr) return true;
    (void)network_->progress();
    network_->check(*puts);
    return network_->open_transfers(*puts) == 0;
  }

  // Words of the caller are never in a region: they are sent from a buffer.
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    if (target != caller_.team().rank()) return put(target, offset, std::as_bytes(words));
    auto* word_there = reinterpret_cast<std::uint64_t*>(own_part(offset, words.size_bytes()).data());
    for (const std::uint64_t word : words) std::atomic_ref(*word_there++).store(word, std::memory_order_release);
  }

 private:
  static void check_part(std::size_t offset, std::size_t bytes, std::uint64_t all) {
    if (offset > all || bytes > all - offset) throw Error(FENIX_ERROR_INTERN, "access outside of a peer's region");
  }

  [[nodiscard]] std::span<std::byte> own_part(std::size_t offset, std::size_t bytes) const {
    check_part(offset, bytes, own_.size());
    return own_.subspan(offset, bytes);
  }

  [[nodiscard]] Target& part(int target, std::size_t offset, std::size_t bytes) {
    auto reached = targets_.find(target);
    if (reached == targets_.end()) {
      reached = targets_.emplace(target, Target{shared_->directory->find(caller_.team(), target, number_)}).first;
    }
    check_part(offset, bytes, reached->second.found.region.bytes);
    return reached->second;
  }

  [[nodiscard]] const FabricLane* puts_to(int target) const {
    const auto reached = targets_.find(target);
    return reached != targets_.end() ? reached->second.puts : nullptr;
  }

  [[nodiscard]] bool is_own(std::span<const std::byte> data) const {
    const std::less_equal<> not_after;
    return not_after(own_.data(), data.data()) && not_after(data.data() + data.size(), own_.data() + own_.size());
  }

  std::shared_ptr<FabricTeam> shared_;
  FabricNetwork* network_;
  std::shared_ptr<FabricTally> tally_;
  FabricCaller caller_;
  std::span<std::byte> own_;
  void* descriptor_;
  std::uint32_t number_;
  std::map<int, Target> targets_;  // that have been needed
};

class FabricPath final : public Path {
 public:
  explicit FabricPath(std::shared_ptr<FabricNetwork> network)
      : network_(network.get()), shared_(std::make_shared<FabricTeam>(std::move(network))) {}

  [[nodiscard]] std::string_view name() const override { return "fabric"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return false; }
  [[nodiscard]] bool makes_memory_real() const override { return network_->makes_memory_real(); }

  [[nodiscard]] std::uint64_t bytes_fetched() const override { return network_->bytes_fetched(); }

  bool make_progress() override {
    (void)network_->progress();
    return true;
  }

  std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) override {
    const std::uint32_t number = shared_->made++;
    const FabricExposed* exposed = nullptr;
    std::unique_ptr<FabricDirectory> joined;
    std::optional<Error> error;
    const auto attempt = [&](auto&& work) {
      try {
        work();
      } catch (const Error& refused) {
        if (!team.sound()) throw;
        error = refused;
      } catch (const std::bad_alloc&) {
        error = out_of_memory();
      }
    };
    if (!shared_->directory) attempt([&] { joined = join(team); });
    FabricDirectory* const directory = joined ? joined.get() : shared_->directory.get();
    if (!error) {
      attempt([&] {
        exposed = &register_region(region, number);
        directory->publish(number, {exposed->memory, region.bytes().size()});
      });
    }
    const int refused_by = agree(team, error.has_value());
    if (error || refused_by < team.size()) {
      shared_->exposed.erase(number);
      shared_->exposures.forget(number);
    }
    if (error) throw Error(*error);
    if (refused_by < team.size()) {
      throw Error(FENIX_ERROR_NO_MEMORY,
                  "rank " + std::to_string(refused_by) + " could not register its memory with the network");
    }
    // One that not all have joined is of no use to any.
    if (joined) shared_->directory = std::move(joined);
    network_->forget_unused_peers();
    return std::make_unique<FabricRemoteRegions>(shared_, team, region.bytes(), *exposed, number);
  }

  [[nodiscard]] bool has_kept_memory() const override { return shared_->exposures.some_are_closed(); }

  // The network reads what was put until that is over; and a target's provider may be in the midst of a write when its key is
  // withdrawn. With libfabric's tcp, it then goes on to write where the region was.
  void give_back(Team& team) override {
    shared_->exposures.give_back(
        team,
        [&](std::uint32_t number) {
          const auto found = shared_->exposed.find(number);
          return found == shared_->exposed.end() || network_->are_over(*found->second.tally);
        },
        [&](std::uint32_t number) { shared_->exposed.erase(number); });
  }

 private:
  const FabricExposed& register_region(const Region& region, std::uint32_t number) {
    constexpr std::uint64_t kAccess = FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ;
    if (network_->makes_memory_real()) make_real(region);
    shared_->exposures.add(number, region);
    FabricExposed exposed{FabricMemory(network_->endpoint(), region.bytes(), kAccess)};
    return shared_->exposed.emplace(number, std::move(exposed)).first->second;
  }

  std::unique_ptr<FabricDirectory> join(Team& team) {
    try {
      auto directory = std::make_unique<FabricDirectory>(*network_);
      directory->join(team);
      return directory;
    } catch (const std::bad_alloc&) {
      // Its part in the collective work has not been done, and must not let the others wait.
      team.withdraw();
      throw Error(out_of_memory());
    }
  }

  /// The first rank that refuses; as many as there are ranks if none does.
  static int agree(Team& team, bool refuses) {
    try {
      return team.reduce(static_cast<std::int32_t>(refuses ? team.rank() : team.size()),
                         [](std::int32_t& into, std::int32_t from) { into = std::min(into, from); });
    } catch (const std::bad_alloc&) {
      team.withdraw();
      throw Error(out_of_memory());
    }
  }

  FabricNetwork* network_;
  std::shared_ptr<FabricTeam> shared_;
};

}  // namespace

std::shared_ptr<Path> make_fabric_path(std::shared_ptr<FabricNetwork> network) {
  return std::make_shared<FabricPath>(std::move(network));
}

}  // namespace fenix_impl
