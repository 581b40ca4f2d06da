// SPDX-License-Identifier: BSD-3-Clause
// Entries of a log of messages in a journal: their identifiers, and what is in their depths.
#pragma once

#include <cstdint>

#include "base/interval_set.hpp"
#include "messages/journal/entry.hpp"
#include "messages/log/determinant_log.hpp"
#include "messages/log/flow.hpp"

namespace fenix_impl {

namespace log_entry {
constexpr std::uint64_t kLogged = 0x6C6F67676564U;     // in the identifiers of logged messages
constexpr std::uint64_t kNumbers = 0x6E756D62657273U;  // in the identifiers of stored numbers
constexpr std::uint64_t kSpilled = 0x7370696C6C6564U;  // of entries that name the files in which the log goes on
constexpr std::uint64_t kPositions =
    0x706F736974696FU;                           // of stored numbers that are places in the stream of determinants
constexpr std::uint64_t kTaken = 0x74616B656EU;  // in the identifiers of notes that synchronous messages were taken
// Depths from this one on are those of logged messages: all are kept. The other bits tell in which order they were sent, and whether their senders
// wait for the receives.
constexpr std::uint32_t kLeastDepth = 1U << 31U;
constexpr unsigned kOrderBits = 30;
constexpr std::uint32_t kSynchronous = 1U << kOrderBits;
constexpr std::uint32_t kOrders = kSynchronous - 1;
// The depth of the notes, which nothing else has. They are kept until there is a newer one.
constexpr std::uint32_t kDepthOfTaken = DeterminantLog::kDepth - 1;
}  // namespace log_entry

/// Returns a flow of the program as it is in logs.
inline Flow logged_flow(const Flow& of) { return {of.comm_id ^ log_entry::kLogged, of.peer, of.tag}; }

inline bool is_logged(const EntryHead& head) { return head.depth >= log_entry::kLeastDepth; }

/// Whether a message was sent before another one of the same sender. Their orders begin anew after 2^30.
inline bool is_earlier(const EntryHead& one, const EntryHead& other) {
  return static_cast<std::int32_t>((one.depth - other.depth) << (32U - log_entry::kOrderBits)) < 0;
}

/// Whether a log with these messages of a flow has had a message. Those before its first one were discarded: nobody needs them again.
inline bool has_logged(const IntervalSet& numbers, std::uint64_t number) {
  return numbers.covers(number, number + 1) || (!numbers.empty() && number < numbers.intervals().front().first);
}

/// Whether a log with these messages of a flow may have had this message, or a later one.
inline bool is_before_end(const IntervalSet& numbers, std::uint64_t number) {
  return !numbers.empty() && number < numbers.intervals().back().end;
}

}  // namespace fenix_impl
