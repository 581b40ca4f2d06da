// SPDX-License-Identifier: BSD-3-Clause
// Processes of this node that keep the others waiting inside of MPI.
//
// MPI's agreements and the making of communicators wait for every living process, without an end: one that is stopped, or that
// never comes, would hold up all. When those that wait have lived for FENIX_TIMEOUT, they kill it. Then its place can be repaired, and nothing
// that it would do later can reach what the others commit meanwhile.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.hpp"
#include "base/ticker.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

class SilenceWatch {
 public:
  /// The data by which others watch this process.
  struct Address {
    RegionAddress page;
    std::uint64_t node = 0;
    std::uint64_t rounds = 0;
  };

  /// patience: for how long a process may be silent.
  explicit SilenceWatch(Deadline::Clock::duration patience = Deadline::timeout()) : patience_(patience) {}
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;
  ~SilenceWatch();

  /// Throws Error(FENIX_ERROR_NO_MEMORY).
  [[nodiscard]] Address address();
  /// Watches, from now on, those of the processes that are on this node, and no others. Files of earlier ones that have died
  /// are removed.
  void observe(std::span<const Address> processes);
  /// Watches nobody any more, and cannot be watched.
  void end();

  /// Returns how often this process has been rung for. Local.
  [[nodiscard]] std::uint32_t rings();
  /// Sleeps for so long, or until somebody rings. rings: what rings() said before the last look at what is waited for. Returns
  /// whether somebody has rung since then.
  bool sleep(std::uint32_t rings, Deadline::Clock::duration time);
  /// Wakes the watched processes that sleep. Local; from any thread.
  void ring();

 private:
  struct Peer;

 public:
  /// While one lives, this process waits in MPI for the others.
  class Wait {
   public:
    /// any: those that are stopped are killed. round: all watched processes come to it, one round after the other; those that
    /// have not come when twice the time has passed are killed as well.
    enum class Kind { round, any };
    Wait(SilenceWatch& watch, Kind kind);
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    [[nodiscard]] std::uint64_t begin(Kind kind) const;
    void look() noexcept;
    void look_at(const Peer& peer);

    SilenceWatch& watch_;
    const std::uint64_t round_;  // 0: of no round
    std::map<pid_t, Deadline::Clock::time_point> silent_since_;
    Ticker ticker_;
  };

 private:
  struct Peer {
    RegionAddress address;
    int process = -1;  ///< a descriptor: process ids are used again
    Mapping page;
  };

  static std::optional<Peer> reach(const Address& address);
  struct Words;
  [[nodiscard]] static Words& words_on(std::span<std::byte> page);
  void set_rounds(std::uint64_t rounds);

  const Deadline::Clock::duration patience_;
  std::optional<Region> page_;
  std::uint64_t rounds_ = 0;
  std::mutex mutex_;  // of peers_
  std::vector<Peer> peers_;
};

}  // namespace fenix_impl
