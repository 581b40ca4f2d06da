// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/log_gaps.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace fenix_impl {

void LogGaps::note_missing(const Flow& flow, std::uint64_t number) {
  lack_messages_ = lack_newer_ones_ = true;
  std::uint64_t& greatest = missing_[flow];
  greatest = std::max(greatest, number);
  warn();
}

void LogGaps::warn() {
  if (std::exchange(have_warned_, true)) return;
  log().warn(
      "the log of messages is full, and lets go of what may be needed: until the next checkpoint, a failure takes all "
      "ranks back; FENIX_MLOG_MEMORY or FENIX_PERSIST_VOLUME gives more room");
}

void LogGaps::forget_until(const Flow& flow, std::uint64_t number) {
  const auto missing = missing_.find(flow);
  if (missing != missing_.end() && missing->second <= number) missing_.erase(missing);
}

void LogGaps::settle() {
  if (missing_.empty()) lack_messages_ = lack_newer_ones_ = false;
}

void LogGaps::note_checkpoint(bool is_on_all) {
  is_stored_ = true;
  if (is_on_all) lack_messages_ = lack_newer_ones_;
}

void LogGaps::begin_meeting() {
  if (std::exchange(is_stored_, false)) lack_messages_ = lack_newer_ones_;
  lack_newer_ones_ = false;
}

void LogGaps::forget_received(const Receipts& received) {
  std::erase_if(missing_, [&](const auto& each) { return received.all_until(each.first) >= each.second; });
}

std::optional<Flow> LogGaps::find_unreceived(std::uint64_t comm_id, const Receipts& received) const {
  for (const auto& [flow, number] : missing_) {
    if (flow.comm_id == comm_id && received.all_until(flow) < number) return flow;
  }
  return std::nullopt;
}

void LogGaps::forget() {
  missing_.clear();
  lack_messages_ = lack_newer_ones_ = is_stored_ = false;
}

}  // namespace fenix_impl
