// SPDX-License-Identifier: BSD-3-Clause
// A rank that is connected to the keeper, and the answers that it has not read yet. Nothing here waits for the rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "keeper/message.hpp"

namespace fenix_impl {

struct KeeperPeer {
  explicit KeeperPeer(Descriptor connected) : socket(std::move(connected)) {}

  /// Sends an answer, with a file or none. One that has no room in the socket is kept for send_rest(). Threads may use it at the same time.
  void answer(const Message& message, const Descriptor& file = {});
  /// Sends a message of which a later one tells the same: it is dropped if it has no room.
  void tell(const Message& message);
  /// Sends answers that have had no room.
  void send_rest();
  /// Whether there are such answers.
  [[nodiscard]] bool has_rest();

  Descriptor socket;
  std::vector<Descriptor> regions;  ///< for the next flush
  bool lacks_regions = false;       ///< some of them could not be taken
  std::atomic<bool> has_gone{false};
  std::uint32_t run = 0;  ///< of the rank, when it knows it

 private:
  struct Waiting {
    std::vector<std::byte> bytes;
    Descriptor file;
  };

  std::mutex mutex_;  // protects the answers
  std::deque<Waiting> rest_;
};

}  // namespace fenix_impl
