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
#include "keeper/message.hpp"
#include "keeper/offer.hpp"
#include "store/dataset_writer.hpp"

namespace fenix_impl {

/// A rank that is connected.
struct KeeperPeer {
  explicit KeeperPeer(Descriptor connected) : socket(std::move(connected)) {}

  /// Sends an answer, with a file or none. A peer that has gone gets none.
  void answer(const Message& message, const Descriptor& file = {}) const;

  Descriptor socket;
  std::vector<Descriptor> regions;  ///< for the next flush
  bool has_gone = false;
};

/// Memory of a rank, mapped to be read. It stays when the rank dies.
class PeerMemory {
 public:
  /// Maps part of a file. Throws std::runtime_error if the file is smaller, or may become smaller.
  PeerMemory(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes, bool to_be_written);
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&&) = delete;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::span<std::byte> bytes_;
};

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
  [[nodiscard]] bool has_all() const { return offers_.size() == ranks_.size(); }
  /// Returns what the writer of datasets needs, in ascending order of ranks.
  [[nodiscard]] std::vector<RankSource> sources() const;

  /// Tells all ranks that wait how it has ended. Only the first outcome counts.
  void end(KeeperCode code, const std::string& text = {});
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// Tells them how much is written, once a second: that the keeper lives, too.
  void tell_progress();
  void note_written(std::uint64_t bytes) { written_ += bytes; }
  /// Lets go of the memory of the ranks.
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
