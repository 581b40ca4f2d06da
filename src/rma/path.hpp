// SPDX-License-Identifier: BSD-3-Clause
// Paths: how a rank reaches the regions of its team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "rma/kept_region.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Bytes of a peer's region, and where they are read to.
struct RemotePart {
  int target = 0;
  std::size_t offset = 0;
  std::span<std::byte> data;
};

/// One region of each rank of a team, within reach of the others. Offsets are bytes from the start of the target's region.
/// All functions are local: the target does nothing. They throw PeerFailure when they cannot go on because the target has
/// died or the team is dissolved, and Error(FENIX_ERROR_TIMEOUT).
class RemoteRegions {
 public:
  RemoteRegions() = default;
  RemoteRegions(const RemoteRegions&) = delete;
  RemoteRegions& operator=(const RemoteRegions&) = delete;
  virtual ~RemoteRegions() = default;

  /// Returns the rank whose region is kept open beyond that rank's death; negative if there is none.
  [[nodiscard]] virtual int keeps() const { return -1; }
  /// Gives that region out; none if it does not.
  [[nodiscard]] virtual KeptRegion release_kept() { return {}; }

  /// Prepares for access to the region of a rank: what that needs of the system is taken now, and not by the first access. For ranks that
  /// are reached in stores and commits. Throws Error(FENIX_ERROR_NO_MEMORY).
  virtual void reach(int target) { (void)target; }
  /// The bytes themselves, where they can be reached by loads and stores; else empty. Valid as long as this object.
  [[nodiscard]] virtual std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) {
    (void)target, (void)offset, (void)bytes;
    return {};
  }
  /// There will be much access to those bytes: what has to be prepared for that can be prepared now.
  virtual void expect_access(int target, std::size_t offset, std::size_t bytes) {
    (void)target, (void)offset, (void)bytes;
  }
  /// Makes sure that the target has memory for those bytes. Throws Error(FENIX_ERROR_NO_MEMORY). Does nothing on paths where the
  /// target's own process writes them.
  virtual void reserve(int target, std::size_t offset, std::size_t bytes) { (void)target, (void)offset, (void)bytes; }
  /// Writes data. It may be on its way until flush(); data must stay as it is until then.
  virtual void put(int target, std::size_t offset, std::span<const std::byte> data) = 0;
  /// Reads into data; done on return. If it throws, nothing is written to data later on.
  virtual void get(int target, std::size_t offset, std::span<std::byte> data) = 0;
  /// Does get() for each of the parts. A path may have many of them under way at once.
  virtual void get_all(std::span<const RemotePart> parts) {
    for (const RemotePart& each : parts) get(each.target, each.offset, each.data);
  }
  /// Returns when all earlier puts to the target are in its memory.
  virtual void flush(int target) = 0;
  /// Whether flush() would return at once. Does not wait.
  [[nodiscard]] virtual bool is_flushed(int target) = 0;
  /// Writes words, 8-byte aligned, as put() does, but words may change on return. The target sees each all at once, where the
  /// path and the system can do that.
  virtual void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) = 0;
  /// flush(), and then writes one word and completes that.
  void put_word(int target, std::size_t offset, std::uint64_t word) {
    flush(target);
    put_words(target, offset, {&word, 1});
    flush(target);
  }
};

/// Makes remote regions. All of a path are for one team.
class Path {
 public:
  Path() = default;
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  virtual ~Path() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// True if put() to a rank copies with the caller's core; else the network works on after its return.
  [[nodiscard]] virtual bool puts_are_copies(int target) const = 0;
  /// Whether all bytes of an exposed region become real memory, used or not.
  [[nodiscard]] virtual bool makes_memory_real() const { return false; }
  /// Moves along what the network has under way, as far as that takes a core; from any thread. False if that cannot be done
  /// from another thread than the application's, or need not be.
  virtual bool make_progress() { return false; }
  /// What this process has read so far over the network, addresses included; 0 on paths that do not count.
  [[nodiscard]] virtual std::uint64_t bytes_fetched() const { return 0; }
  /// Local: the ranks whose regions this rank can keep open beyond their deaths, and those that can keep its own. The
  /// relation is mutual.
  [[nodiscard]] virtual std::set<int> adopting_neighbours(const Team& team) const {
    (void)team;
    return {};
  }
  /// Collective over the team: every rank brings a region. A rank that cannot reach its
  /// peers throws Error(FENIX_ERROR_NO_MEMORY), after its part in the collective work.
  /// The memory of the region stays as long as a transfer may touch it, also when the Region has gone: a path whose transfers
  /// can come late has a RegionHold.
  virtual std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) = 0;
  /// Local: whether this rank has destroyed remote regions whose memory here is still kept for the others.
  [[nodiscard]] virtual bool has_kept_memory() const { return false; }
  /// Collective over the team: gives back the memory that was kept so far, where all ranks have destroyed their remote regions.
  /// Regions that are in use are not touched. Throws as Team::reduce_lists does. Sends nothing on paths that keep nothing.
  virtual void give_back(Team& team) { (void)team; }
};

}  // namespace fenix_impl
