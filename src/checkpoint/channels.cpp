// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/channels.hpp"

#include "interposition/interposer.hpp"

namespace fenix_impl {

const std::vector<int>* Channels::ranks_of(std::uint64_t number) const {
  const auto found = channels_.find(number);
  return found != channels_.end() ? &found->second.ranks : nullptr;
}

void Channels::clear() {
  channels_.clear();
  latest_channel_ = nullptr;
}

Channels::Channel& Channels::channel_of(const Partner& partner) {
  if (latest_channel_ != nullptr && partner.comm_id == latest_number_) return *latest_channel_;
  Channel& channel = channels_[partner.comm_id];
  if (channel.ranks.empty()) {
    const MPI_Comm now = present(partner.name);
    channel.ranks = process_.comms().ranks_of(now);
    MPI_Comm_rank(now, &channel.own);
  }
  latest_number_ = partner.comm_id;
  latest_channel_ = &channel;
  return channel;
}

}  // namespace fenix_impl
