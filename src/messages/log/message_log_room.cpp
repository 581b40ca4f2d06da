// SPDX-License-Identifier: BSD-3-Clause
// Room in the log of messages: what nobody needs any more goes, and the oldest entries if there is none.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/log.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/message_log.hpp"

namespace fenix_impl {

void MessageLog::write_decisions(const LogJournals& journals) {
  if (!decisions_.has_new()) return;
  journals.held.note_needed();
  decisions_.write(journals.held,
                   [&](const Signature& signature, std::uint32_t depth, const Payload& payload, std::uint64_t number) {
                     return put(journals.held, journals, signature, depth, payload, number);
                   });
  if (decisions_.lacks_some()) say_that_it_lacks_some();
}

void MessageLog::append(const LogJournals& journals, const Signature& signature, std::uint32_t depth,
                        const Payload& payload, std::optional<std::uint64_t> number) {
  const std::uint64_t with_number = number.value_or(journals.held.latest_number() + 1);
  if (put(journals.held, journals, signature, depth, payload, with_number)) return;
  // Says why not.
  journals.held.append(signature, depth, payload, with_number);
}

// The program goes on, whatever the log can keep.
bool MessageLog::put(Journal& journal, const LogJournals& journals, const Signature& signature, std::uint32_t depth,
                     const Payload& payload, std::uint64_t number) {
  const auto append = [&] {
    try {
      journal.append(signature, depth, payload, number);
      return true;
    } catch (const Error& error) {
      if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
      return false;
    }
  };
  if (append() || wait_for_room(journals, append)) return true;
  while (spill(journals, journal)) {
    if (append()) return true;
  }
  while (let_go_of_oldest(journal, journals)) {
    if (append()) return true;
  }
  return false;
}

// Receivers may be about to store a state with which they need less of the log.
bool MessageLog::wait_for_room(const LogJournals& journals, const TryToAppend& append) {
  constexpr std::chrono::seconds kPatience{2};
  const auto others_have_states = look_for_states(journals, next_look_for_room_);
  if (!others_have_states) return false;
  const bool waits = *others_have_states && !waits_in_vain_ && !can_spill();
  const Deadline deadline(waits ? kPatience : std::chrono::seconds(0));
  for (const Backoff backoff;; backoff.pause()) {
    if (append()) {
      next_look_for_room_ = {};
      return true;
    }
    if (deadline.passed()) break;
    release_what_is_stable(journals);
  }
  waits_in_vain_ = waits_in_vain_ || waits;
  return false;
}

// A log with many entries is looked through: that takes a part of the time only.
std::optional<bool> MessageLog::look_for_states(const LogJournals& journals, Clock::time_point& next_look) {
  constexpr int kPart = 20;
  const auto begun = Clock::now();
  if (begun < next_look) return std::nullopt;
  const bool has_found = release_what_is_stable(journals);
  next_look = Clock::now() + kPart * (Clock::now() - begun);
  return has_found;
}

// The log loses entries in the order in which they came, a part of its room at once: this is not done for each message.
bool MessageLog::let_go_of_oldest(Journal& journal, const LogJournals& journals) {
  constexpr double kPart = 1.0 / 64;
  const double enough = journal.filling() - kPart;
  const Entry* oldest = journal.oldest(DecisionLog::kDepth);
  if (oldest == nullptr) return false;
  for (; oldest != nullptr && journal.filling() > enough; oldest = journal.oldest(DecisionLog::kDepth)) {
    const EntryHead head = oldest->head;
    // Before it goes: a replacement has to know.
    if (!is_logged(head) && decisions_.lose(journals.held, head.number)) continue;
    (void)journal.release_oldest(DecisionLog::kDepth);
    if (is_logged(head)) note_missing(flow_of(head.signature), head.number);
  }
  return true;
}

void MessageLog::note_missing(const Flow& flow, std::uint64_t number) {
  lacks_messages_ = lacks_newer_ones_ = true;
  std::uint64_t& greatest = missing_[flow];
  greatest = std::max(greatest, number);
  say_that_it_lacks_some();
}

void MessageLog::say_that_it_lacks_some() {
  if (std::exchange(has_warned_, true)) return;
  log().warn(
      "the log of messages is full, and lets go of what may be needed: until the next checkpoint, a failure takes all "
      "ranks back; FENIX_MLOG_MEMORY or FENIX_PERSIST_VOLUME gives more room");
}

void MessageLog::release_until(const LogJournals& journals, std::span<const Number> numbers, bool only_received) {
  DecisionLog::Position position;
  for (const Number& each : numbers) {
    if (take_position(each, position) || each.is_sent == 0) continue;
    const std::uint64_t most = only_received ? received_at_checkpoint_.all_until(each.flow) : each.number;
    // This rank goes back to such numbers, or later ones: it does not send again what its receiver has.
    release(journals, signature_of(each.flow), std::min(each.number, most), /*keeps_newest=*/!only_received);
  }
  release_decisions(journals, position);
}

void MessageLog::release(const LogJournals& journals, const Signature& signature, std::uint64_t number,
                         bool keeps_newest) {
  journals.messages.release_until(signature, number, keeps_newest);
  if (!journals.are_one()) journals.held.release_until(signature, number, keeps_newest);
  if (spill_) spill_->release_until(signature, number);
}

void MessageLog::note_stored(const LogJournals& journals) {
  if (lacks_some()) (void)look_for_states(journals, next_look_when_stored_);
}

// A receiver never goes back behind the oldest message to itself that it keeps: it does not need what it had received before.
bool MessageLog::release_what_is_stable(const LogJournals& journals) {
  const int own_slot = journals.held.slot();
  bool has_states = false;
  // A journal that was taken back has messages that its owner had let go of: those of all receivers count.
  std::set<int> receivers;
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    for (const Entry& each : journal->messages_of(own_slot)) {
      if (is_logged(each.head)) receivers.insert(each.head.signature.destination);
    }
  }
  for (const auto& [flow, number] : missing_) receivers.insert(flow.peer);
  // This rank does not send again what it had sent before its own oldest state.
  const auto sent_before =
      stable_numbers(journals.held, own_slot, [](const Number& each) { return each.is_sent != 0; });
  const auto is_from_here = [&](const Number& each) { return each.is_sent == 0 && each.flow.peer == own_slot; };
  for (const int receiver : receivers) {
    const auto stable = stable_numbers(journals.held, receiver, is_from_here);
    has_states = has_states || (receiver != own_slot && !stable.empty());
    for (const auto& [flow, number] : stable) {
      if (flow.channel == log_entry::kPositions) continue;
      const Signature sent{flow.channel ^ log_entry::kLogged, receiver, flow.tag};
      const auto before = sent_before.find(flow_of(sent));
      if (before != sent_before.end()) {
        release(journals, sent, std::min(number, before->second), /*keeps_newest=*/false);
      }
      // The newest one tells this rank's replacement that it has been received.
      release(journals, sent, number, /*keeps_newest=*/true);
      const auto missing = missing_.find(flow_of(sent));
      if (missing != missing_.end() && missing->second <= number) missing_.erase(missing);
    }
  }
  if (missing_.empty()) lacks_messages_ = lacks_newer_ones_ = false;
  // The same holds for its own decisions.
  release_decisions(journals, begin_of_decisions(journals));
  return has_states;
}

DecisionLog::Position MessageLog::begin_of_decisions(const LogJournals& journals) const {
  const int own_slot = journals.held.slot();
  const auto is_position = [](const Number& each) { return each.flow.channel == log_entry::kPositions; };
  auto own = stable_numbers(journals.held, own_slot, is_position);
  return {own[{log_entry::kPositions, own_slot, 0}], own[{log_entry::kPositions, own_slot, 1}]};
}

// Files have gone with what they had: a replacement must not look for them.
void MessageLog::release_decisions(const LogJournals& journals, const DecisionLog::Position& position) {
  const std::uint64_t number = decisions_.release(journals.held, position);
  if (!spill_) return;
  spill_->release_until(DecisionLog::signature_in(journals.held), number);
  note_place(journals);
}

template <class Wanted>
std::map<MessageLog::Flow, std::uint64_t> MessageLog::stable_numbers(const Journal& journal, int owner,
                                                                     const Wanted& wanted) {
  // The owner may be storing meanwhile: one reading of its journal has to do.
  std::map<Signature, std::map<std::uint64_t, Entry>> to_itself;
  for (const Entry& each : journal.messages_of(owner)) {
    const bool is_for_itself = each.head.signature.destination == owner && !is_logged(each.head);
    if (is_for_itself) to_itself[each.head.signature][each.head.number] = each;
  }
  std::optional<std::map<Flow, std::uint64_t>> least;
  for (const auto& [signature, messages] : to_itself) {
    const auto numbers_of = to_itself.find(signature_of_numbers(signature));
    if (numbers_of == to_itself.end()) continue;
    const auto oldest = std::find_if(messages.begin(), messages.end(), [&](const auto& message) {
      return message.first > 0 && numbers_of->second.count(message.first - 1) > 0;
    });
    if (oldest == messages.end()) continue;
    const auto stored = read_numbers(journal, owner, numbers_of->second.at(oldest->first - 1));
    // The owner has stored another state meanwhile: it is for the next look.
    if (!stored) return {};
    std::map<Flow, std::uint64_t> numbers;
    for (const Number& number : *stored) {
      if (wanted(number)) numbers[number.flow] = number.number;
    }
    if (least) {
      for (auto& [flow, number] : *least) number = std::min(number, numbers[flow]);
    } else {
      least = std::move(numbers);
    }
  }
  return least.value_or(std::map<Flow, std::uint64_t>());
}

}  // namespace fenix_impl
