// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a team and their regions are in the network. Each rank keeps its own addresses, and those of the ranks
// 1, 2, 4, … places away, in memory that others can read. So each finds each, when it first needs it, in as many reads as
// the number of ranks has binary digits, and nothing is gathered from all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "rma/fabric/caller.hpp"

namespace fenix_impl {

/// Registered memory, as others reach it.
struct FabricRegion {
  std::uint64_t key = 0;
  std::uint64_t base = 0;  ///< what others add offsets to
  std::uint64_t bytes = 0;

  FabricRegion() = default;
  FabricRegion(const FabricMemory& memory, std::size_t size) : key(memory.key()), base(memory.base()), bytes(size) {}
};

/// A region of a peer. Its address can be used as long as this is there.
struct FabricTarget {
  std::shared_ptr<const FabricPeer> peer;
  FabricRegion region;
};

class FabricDirectory {
 public:
  explicit FabricDirectory(FabricNetwork& network) : network_(network) {}
  FabricDirectory(const FabricDirectory&) = delete;
  FabricDirectory& operator=(const FabricDirectory&) = delete;

  /// Collective over the team, once, before anything else. Throws Error(FENIX_ERROR_GROUP_CREATE) on all ranks if they have
  /// different providers, and Error(FENIX_ERROR_NO_MEMORY) on a rank without memory for its directory, after its part.
  void join(Team& team);
  /// Local: others find the address of this rank's region of that number, when they know that this has returned. Numbers start
  /// at 0, and each is given out once. Throws Error(FENIX_ERROR_NO_MEMORY) and std::bad_alloc.
  void publish(std::uint32_t number, const FabricRegion& region);
  /// Local; waits for reads, as FabricCaller does: what another rank of the team has published. From any thread.
  FabricTarget find(Team& team, int rank, std::uint32_t number);

 private:
  /// Registered memory of the directory.
  struct Page {
    Page(FabricNetwork& of, std::size_t size);
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    ~Page();
    template <class T>
    void write(std::size_t offset, const T& value);

    FabricNetwork& network;
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes;
    FabricMemory registration;
  };
  /// How to reach a rank, and what of its directory has been read.
  struct Contact {
    std::shared_ptr<const FabricPeer> peer;
    FabricRegion directory;
    std::map<std::size_t, FabricRegion> pages{};  // of addresses, by number
  };
  struct Entry;
  /// To a rank that is 2^round places on, or before.
  struct Step {
    int round;
    bool back;
  };

  /// Where the address of a region is in its rank's pages.
  struct Spot {
    std::size_t page;
    std::size_t offset;
  };

  // So many addresses are in the first page, and twice as many in each that follows: room for every number.
  static constexpr std::uint32_t kFirstPage = 64;
  static constexpr std::size_t kPages = 27;

  [[nodiscard]] int rounds() const;
  [[nodiscard]] int rank_at(int from, Step step) const;
  [[nodiscard]] Step step_towards(int from, int rank) const;
  [[nodiscard]] std::set<int> neighbours() const;
  [[nodiscard]] std::size_t entry_bytes() const;
  [[nodiscard]] std::size_t offset_of(Step step) const;
  [[nodiscard]] static Spot spot_of(std::uint32_t number);
  void agree_on_provider(Team& team);
  void make_root();
  [[nodiscard]] Contact contact_in(std::span<const std::byte> entry);
  Contact contact_of(Team& team, int rank);
  FabricRegion page_of(Team& team, int rank, const Contact& contact, std::size_t page);

  FabricNetwork& network_;
  int self_ = 0;
  int ranks_ = 1;
  std::size_t longest_name_ = 0;
  std::unique_ptr<Page> root_;  // addresses of the pages, and then an entry for each step
  std::array<std::unique_ptr<Page>, kPages> pages_;
  std::mutex mutex_;
  std::map<int, Contact> contacts_;
};

}  // namespace fenix_impl
