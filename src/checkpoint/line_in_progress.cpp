// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/line_in_progress.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "interposition/message_counters.hpp"

namespace fenix_impl {
namespace {

void say_that_it_is_no_use(const LineRecord& line) {
  log().warn("checkpoint: the log has no room for {} messages and {} events: a restart cannot begin with this one",
             line.late.size(), line.trace.words().size());
}

}  // namespace

void LineInProgress::begin(int ranks, const MessageCounts& counts) {
  record_ = std::make_unique<LineRecord>();
  close_fast_path();
  notes_ends_ = true;
  record_->ranks = ranks;
  counts.write_to(*record_);
  told_.clear();
  without_room_.clear();
  open_late_ = 0;
  log_bytes_ = 0;
}

void LineInProgress::drop() {
  told_.clear();
  without_room_.clear();
  record_.reset();
#ifdef NDEBUG
  notes_ends_ = false;
#endif
}

void LineInProgress::learn_counts(std::span<const FlowCount> told) {
  FlowCounts at_line;
  for (const FlowCount& each : record_->received) at_line[each.flow] = each.count;
  for (const FlowCount& each : told) {
    told_[each.flow] = each.count;
    open_late_ += each.count - std::min(each.count, count_of(at_line, each.flow));
  }
  std::erase_if(record_->late, [&](const LateMessage& each) { return each.number > count_of(told_, each.flow); });
  open_late_ -= record_->late.size();
  for (const auto& [flow, numbers] : without_room_) open_late_ -= numbers.within(0, count_of(told_, flow) + 1).count();
  without_room_.clear();
  fault_point("line.known");
}

void LineInProgress::add(const MessageFlow& flow, std::uint64_t number, bool are_known,
                         const std::function<std::vector<std::byte>()>& pack) {
  if (record_->is_whole) {
    log_bytes_ += record_->late.emplace_back(LateMessage{flow, number, pack()}).bytes.size();
  } else {
    note_without_room(flow, number, are_known);
  }
}

void LineInProgress::keep_within(std::size_t room, bool are_known) {
  const Trace& trace = record_->trace;
  const std::size_t events = trace.words().size() * sizeof(std::int64_t) + trace.flows().size() * sizeof(MessageFlow);
  if (!record_->is_whole || std::max(log_bytes_, events) <= room) return;
  say_that_it_is_no_use(*record_);
  record_->is_whole = false;
  record_->trace.clear();
  for (const LateMessage& each : std::exchange(record_->late, {})) {
    note_without_room(each.flow, each.number, are_known);
  }
}

void LineInProgress::note_without_room(const MessageFlow& flow, std::uint64_t number, bool are_known) {
  if (are_known) return;
  IntervalSet& numbers = without_room_[flow];
  numbers = numbers | IntervalSet(number, number + 1);
}

std::vector<std::byte> LineInProgress::encode(std::size_t most) const {
  auto bytes = record_->is_whole ? record_->encode(most) : std::nullopt;
  if (!bytes) {
    if (record_->is_whole) say_that_it_is_no_use(*record_);
    LineRecord of_no_use;
    of_no_use.ranks = record_->ranks;
    of_no_use.is_whole = false;
    bytes = of_no_use.encode(most);
  }
  return std::move(*bytes);
}

}  // namespace fenix_impl
