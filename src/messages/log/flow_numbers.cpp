// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/flow_numbers.hpp"

#include <algorithm>

#include "messages/log/log_entries.hpp"

namespace fenix_impl {

std::uint64_t FlowNumbers::begin_receive(const Flow& flow) {
  forget_quiet_flows();
  const std::uint64_t number = ++received_[flow];
  open_[flow].add(number);
  return number;
}

void FlowNumbers::end_receive(const Flow& flow, std::uint64_t number) {
  if (auto* const open = open_.find(flow); open != nullptr) open->remove(number);
  if (std::uint64_t* const waited_for = waited_for_.find(flow); waited_for != nullptr && *waited_for == number) {
    *waited_for = 0;
  }
}

void FlowNumbers::take_back(const Flow& flow, bool is_sent) {
  if (is_sent) {
    --sent_[logged_flow(flow)];
  } else {
    end_receive(flow, received_[flow]--);
  }
}

std::uint64_t& FlowNumbers::received(const Flow& flow) {
  forget_quiet_flows();
  return received_[flow];
}

FastReceive FlowNumbers::lend_receives(const Flow& flow, std::uint64_t* cancellable) {
  return {true, &received_[flow], &waited_for_[flow], cancellable, &open_[flow]};
}

// Lists stay when they are empty: there will be a next message. Where each message has another tag, there are many of them in time.
void FlowNumbers::forget_quiet_flows() {
  if (open_.all().size() + waited_for_.all().size() < most_flows_) return;
  close_fast_path();
  open_.erase_if([](const auto& each) { return each.second.empty(); });
  waited_for_.erase_if([](const auto& each) { return each.second == 0; });
  most_flows_ = std::max(kLeastFlows, 2 * (open_.all().size() + waited_for_.all().size()));
}

void FlowNumbers::forget_comm(std::uint64_t comm_id) {
  sent_.erase_if([&](const auto& each) { return each.first.comm_id == (comm_id ^ log_entry::kLogged); });
  received_.erase_if([&](const auto& each) { return each.first.comm_id == comm_id; });
  open_.erase_if([&](const auto& each) { return each.first.comm_id == comm_id; });
  waited_for_.erase_if([&](const auto& each) { return each.first.comm_id == comm_id; });
}

void FlowNumbers::forget_open() {
  open_.clear();
  waited_for_.clear();
}

void FlowNumbers::forget_numbers() {
  sent_.clear();
  received_.clear();
}

}  // namespace fenix_impl
