// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/garbage_collector.hpp"

#include <algorithm>
#include <set>

#include "messages/log/log_entries.hpp"
#include "messages/log/stable_numbers.hpp"

namespace fenix_impl {

void GarbageCollector::release_until(const LogJournals& journals, std::span<const FlowNumber> numbers,
                                     bool only_received) {
  DeterminantLog::Position position;
  for (const FlowNumber& each : numbers) {
    if (take_position(each, position) || each.is_sent == 0) continue;
    const std::uint64_t most = only_received ? peers_.received_at_checkpoint().all_until(each.flow) : each.number;
    // This rank goes back to such numbers, or later ones: it does not send again what its receiver has.
    release(journals, signature_of(each.flow), std::min(each.number, most), /*keeps_newest=*/!only_received);
  }
  release_determinants(journals, position);
}

void GarbageCollector::release(const LogJournals& journals, const Signature& signature, std::uint64_t number,
                               bool keeps_newest) {
  journals.messages.ring().release_until(signature, number, keeps_newest);
  if (!journals.are_one()) journals.held.ring().release_until(signature, number, keeps_newest);
  if (files_.in_use()) files_.spill()->release_until(signature, number);
}

// Files have gone with what they had: a replacement must not look for them.
void GarbageCollector::release_determinants(const LogJournals& journals, const DeterminantLog::Position& position) {
  const std::uint64_t number = determinants_.release(journals.held, position);
  if (!files_.in_use()) return;
  files_.spill()->release_until(DeterminantLog::signature_in(journals.held), number);
  eviction_.note_place(journals);
}

void GarbageCollector::note_stored(const LogJournals& journals) {
  if (eviction_.has_lost_some()) (void)look_for_states(journals, next_look_when_stored_);
}

// A log with many entries is looked through: that takes a part of the time only.
std::optional<bool> GarbageCollector::look_for_states(const LogJournals& journals, Clock::time_point& next_look) {
  constexpr int kPart = 20;
  const auto begun = Clock::now();
  if (begun < next_look) return std::nullopt;
  const bool has_found = release_what_is_stable(journals);
  next_look = Clock::now() + kPart * (Clock::now() - begun);
  return has_found;
}

// A receiver never goes back behind the oldest message to itself that it keeps: it does not need what it had received before.
bool GarbageCollector::release_what_is_stable(const LogJournals& journals) {
  const int own_slot = journals.held.slot();
  bool has_states = false;
  // A journal that was taken back has messages that its owner had discarded: those of all receivers count.
  std::set<int> receivers;
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    for (const Entry& each : journal->reader().messages_of(own_slot)) {
      if (is_logged(each.head)) receivers.insert(each.head.signature.destination);
    }
  }
  for (const auto& [flow, number] : gaps_.missing()) receivers.insert(flow.peer);
  // This rank does not send again what it had sent before its own oldest state.
  const auto sent_before =
      stable_numbers(journals.held, own_slot, [](const FlowNumber& each) { return each.is_sent != 0; });
  const auto is_from_here = [&](const FlowNumber& each) { return each.is_sent == 0 && each.flow.peer == own_slot; };
  for (const int receiver : receivers) {
    const auto stable = stable_numbers(journals.held, receiver, is_from_here);
    has_states = has_states || (receiver != own_slot && !stable.empty());
    for (const auto& [flow, number] : stable) {
      if (flow.comm_id == log_entry::kPositions) continue;
      const Flow sent = logged_flow({flow.comm_id, receiver, flow.tag});
      const auto before = sent_before.find(sent);
      if (before != sent_before.end()) {
        release(journals, signature_of(sent), std::min(number, before->second), /*keeps_newest=*/false);
      }
      // The newest one tells this rank's replacement that it has been received.
      release(journals, signature_of(sent), number, /*keeps_newest=*/true);
      gaps_.forget_until(sent, number);
    }
  }
  gaps_.settle();
  // The same holds for its own determinants.
  release_determinants(journals, begin_of_determinants(journals.held));
  return has_states;
}

}  // namespace fenix_impl
