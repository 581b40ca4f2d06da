// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/log_writer.hpp"

#include <chrono>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"

namespace fenix_impl {

void LogWriter::write_new_determinants(const LogJournals& journals) {
  journals.held.recovery().note_needed();
  determinants_.write(journals.held, [&](const Signature& signature, std::uint32_t depth, const Payload& payload,
                                         std::uint64_t number) {
    return put(journals.held, journals, signature, depth, payload, number);
  });
  if (determinants_.lacks_some()) gaps_.warn();
}

void LogWriter::append(const LogJournals& journals, const Signature& signature, std::uint32_t depth,
                       const Payload& payload, std::optional<std::uint64_t> number) {
  const std::uint64_t with_number = number.value_or(journals.held.writer().latest_number() + 1);
  if (put(journals.held, journals, signature, depth, payload, with_number)) return;
  // Says why not.
  journals.held.writer().append(signature, depth, payload, with_number);
}

bool LogWriter::put(Journal& journal, const LogJournals& journals, const Signature& signature, std::uint32_t depth,
                    const Payload& payload, std::uint64_t number) {
  const auto append = [&] {
    try {
      journal.writer().append(signature, depth, payload, number);
      return true;
    } catch (const Error& error) {
      if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
      return false;
    }
  };
  if (append() || wait_for_room(journals, append)) return true;
  while (eviction_.spill(journals, journal)) {
    if (append()) return true;
  }
  while (eviction_.discard_oldest(journals, journal)) {
    if (append()) return true;
  }
  return false;
}

// Receivers may be about to store a state with which they need less of the log.
bool LogWriter::wait_for_room(const LogJournals& journals, const TryToAppend& append) {
  constexpr std::chrono::seconds kPatience{2};
  const auto others_have_states = collector_.look_for_states(journals, next_look_for_room_);
  if (!others_have_states) return false;
  const bool waits = *others_have_states && !waits_in_vain_ && !eviction_.can_spill();
  const Deadline deadline(waits ? kPatience : std::chrono::seconds(0));
  for (const Backoff backoff;; backoff.pause()) {
    if (append()) {
      next_look_for_room_ = {};
      return true;
    }
    if (deadline.passed()) break;
    collector_.release_what_is_stable(journals);
  }
  waits_in_vain_ = waits_in_vain_ || waits;
  return false;
}

void LogWriter::clear() {
  waits_in_vain_ = false;
  next_look_for_room_ = {};
}

}  // namespace fenix_impl
