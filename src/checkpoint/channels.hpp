// SPDX-License-Identifier: BSD-3-Clause
// The communicators of the program whose messages are counted, by number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "checkpoint/flow.hpp"
#include "interposition/partner.hpp"
#include "recovery/process/process.hpp"

namespace fenix_impl {

class Channels {
 public:
  /// process must outlive it.
  explicit Channels(const Process& process) : process_(process) {}

  [[nodiscard]] MessageFlow flow_to(const Partner& partner) {
    return {partner.comm_id, own_rank(partner), partner.rank, partner.tag, 0};
  }
  [[nodiscard]] MessageFlow flow_from(const Partner& partner) {
    return {partner.comm_id, partner.rank, own_rank(partner), partner.tag, 0};
  }
  /// Returns the rank of this process in the communicator of a partner.
  [[nodiscard]] int own_rank(const Partner& partner) { return channel_of(partner).own; }
  /// Returns the ranks of a communicator as those of the resilient one; null if this rank has not used it yet.
  [[nodiscard]] const std::vector<int>* ranks_of(std::uint64_t number) const;
  void clear();

 private:
  struct Channel {
    std::vector<int> ranks;  ///< of the resilient communicator
    int own = 0;             ///< rank in the communicator
  };

  [[nodiscard]] Channel& channel_of(const Partner& partner);

  const Process& process_;
  std::map<std::uint64_t, Channel> channels_;
  std::uint64_t latest_number_ = 0;  // of latest_channel_
  Channel* latest_channel_ = nullptr;
};

}  // namespace fenix_impl
