// SPDX-License-Identifier: BSD-3-Clause
// The line under way on this rank, from its begin until it is sealed: its record, and the late messages that have not come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/interval_set.hpp"
#include "checkpoint/flow.hpp"
#include "checkpoint/line_record.hpp"
#include "checkpoint/message_counts.hpp"
#include "checkpoint/trace.hpp"

namespace fenix_impl {

class LineInProgress {
 public:
  /// ranks: of the job.
  void begin(int ranks, const MessageCounts& counts);
  /// Ends it: it is sealed, or given up.
  void drop();

  [[nodiscard]] bool is_under_way() const { return record_ != nullptr; }
  [[nodiscard]] const LineRecord& record() const { return *record_; }
  /// Returns the trace, or null if none is needed.
  [[nodiscard]] Trace* trace() { return record_ && record_->is_whole ? &record_->trace : nullptr; }
  /// Returns how many messages were sent to this rank before the line, by flow: known from learn_counts() on.
  [[nodiscard]] const FlowCounts& told() const { return told_; }
  /// Returns whether ends of receives have to be noted: it changes. Local.
  [[nodiscard]] const std::atomic<bool>& notes_ends() const { return notes_ends_; }

  /// Takes the counts that the others have told. Late messages alone stay in the log.
  void learn_counts(std::span<const FlowCount> told);
  /// Whether all late messages have come, where the counts are known.
  [[nodiscard]] bool is_complete() const { return open_late_ == 0; }
  /// Whether a message may be a late one. are_known: whether the counts are, here and in what follows.
  [[nodiscard]] bool may_be_late(const MessageFlow& flow, std::uint64_t number, bool are_known) const {
    return !are_known || number <= count_of(told_, flow);
  }
  /// Logs a message that may be a late one. pack: its bytes.
  void add(const MessageFlow& flow, std::uint64_t number, bool are_known,
           const std::function<std::vector<std::byte>()>& pack);
  /// Notes that a late message has come.
  void note_late() { --open_late_; }
  /// Gives up the log if it takes more room. Without room, the checkpoint is of no use. Its late messages are still waited for: others may have
  /// room, and epochs are those of all.
  void keep_within(std::size_t room, bool are_known);
  /// Returns the record, or one that says that it is of no use, in so many bytes.
  [[nodiscard]] std::vector<std::byte> encode(std::size_t most) const;

 private:
  void note_without_room(const MessageFlow& flow, std::uint64_t number, bool are_known);

  std::unique_ptr<LineRecord> record_;
#ifdef NDEBUG
  std::atomic<bool> notes_ends_{false};
#else
  std::atomic<bool> notes_ends_{true};  // each receive is checked
#endif
  FlowCounts told_;              // messages that were sent before the line, by flow
  std::uint64_t open_late_ = 0;  // late messages that have not come
  std::size_t log_bytes_ = 0;    // of late messages
  /// Numbers of messages that have come since the line, where the log had no room for them.
  std::unordered_map<MessageFlow, IntervalSet, HashOfFlow> without_room_;
};

}  // namespace fenix_impl
