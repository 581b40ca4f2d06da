// SPDX-License-Identifier: BSD-3-Clause
// The part of a dataset that this keeper has to write: it begins when all ranks of the part have offered their data.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/lived_clock.hpp"
#include "keeper/keeper_peer.hpp"
#include "keeper/message.hpp"
#include "keeper/offer.hpp"
#include "keeper/peer_memory.hpp"
#include "store/dataset_writer.hpp"

namespace fenix_impl {

/// An offer, with the memory that it is about.
struct OfferedRank {
  RankOffer offer;
  std::vector<PeerMemory> memory;  ///< by member

  /// Returns what the writer of datasets needs.
  [[nodiscard]] RankSource source() const;
};

class FlushJob {
 public:
  using Clock = LivedClock;

  FlushJob(DatasetPlan plan, std::uint32_t writer);

  [[nodiscard]] const DatasetPlan& plan() const { return plan_; }
  [[nodiscard]] std::uint32_t writer() const { return writer_; }
  [[nodiscard]] Clock::time_point since() const { return since_; }
  /// Whether a request for this plan and writer belongs to it.
  [[nodiscard]] bool is_for(const DatasetPlan& plan, std::uint32_t writer) const {
    return writer == writer_ && plan == plan_;
  }

  /// Takes the offer of a rank. Throws std::runtime_error if it is no good.
  void add(RankOffer offer, std::vector<Descriptor> regions);
  /// Notes a rank that is to be told how the job ends.
  void add_waiter(const std::shared_ptr<KeeperPeer>& peer, std::uint64_t request);
  /// Whether ranks that live wait for it; if not, it is what they have left.
  [[nodiscard]] bool is_of_ranks();
  [[nodiscard]] bool has_all() const { return offers_.size() == ranks_.size(); }
  /// Returns what the writer of datasets needs, in ascending order of ranks.
  [[nodiscard]] std::vector<RankSource> sources() const;

  /// Tells all ranks that wait how it has ended. Only the first outcome counts.
  void end(KeeperCode code, const std::string& text = {});
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// Tells them how much is written, once a second: that the keeper lives, too. Ranks that do not read are not told.
  void tell_progress();
  void note_written(std::uint64_t bytes) { written_ += bytes; }
  /// Releases the memory of the ranks.
  void release() { offers_.clear(); }
  /// Set by the main thread when it has given the job to the writer.
  bool is_submitted = false;

 private:
  struct Waiter {
    std::shared_ptr<KeeperPeer> peer;
    std::uint64_t request = 0;
  };

  DatasetPlan plan_;
  std::uint32_t writer_;
  std::vector<std::int32_t> ranks_;
  std::map<std::int32_t, std::shared_ptr<const OfferedRank>> offers_;
  std::mutex mutex_;  // protects waiters
  std::vector<Waiter> waiters_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> written_{0};
  Clock::time_point told_ = Clock::now();
  Clock::time_point since_ = Clock::now();
};

}  // namespace fenix_impl
