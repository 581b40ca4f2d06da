// SPDX-License-Identifier: BSD-3-Clause
// The flushes of a keeper that have not ended: offers of ranks are collected, or a job is with the writer. The main thread has
// them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "keeper/flush_job.hpp"
#include "keeper/message.hpp"
#include "keeper/received_offer.hpp"

namespace fenix_impl {

class FlushCollection {
 public:
  /// Takes an offer. peer: waits for the outcome; request: its number. Returns the job if all of its offers are there now, or null. Throws
  /// std::runtime_error if the offer is no good.
  [[nodiscard]] std::shared_ptr<FlushJob> take(ReceivedOffer offered, const std::shared_ptr<KeeperPeer>& peer,
                                               std::uint64_t request);
  /// Adds a job that has all of its offers.
  void add(const std::shared_ptr<FlushJob>& job) { jobs_.push_back(job); }
  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  /// Whether the writer has some.
  [[nodiscard]] bool is_writing() const;

  /// Notes flushes that will not get the offers that they lack. Offers that other ranks have made before may still be in their sockets.
  void give_up_when_all_is_read(const Abandoned& abandoned);
  /// Whether it is to be looked once more whether all is read.
  [[nodiscard]] bool has_abandoned() const { return !abandoned_.empty(); }
  /// Ends those flushes when all is read. Called after each look at the sockets.
  void give_up_waiting();
  /// Tells ranks of the progress, and ends what waits for longer than the limit. is_stuck: the file system does not answer.
  void look_after(bool is_stuck, std::chrono::seconds limit);

 private:
  std::vector<std::shared_ptr<FlushJob>> jobs_;
  std::deque<std::string> given_up_;  ///< names of datasets
  std::vector<Abandoned> abandoned_;
  int rounds_to_read_ = 0;  ///< looks at the sockets before flushes are given up
};

}  // namespace fenix_impl
