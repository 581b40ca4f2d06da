// SPDX-License-Identifier: BSD-3-Clause
// Meetings about logged messages, after a repair and at a checkpoint: each rank learns which messages the others have.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/message_log.hpp"

namespace fenix_impl {

namespace {

constexpr int kNobodyAtWork = -1;  // no slot

}  // namespace

bool MessageLog::Received::has(const Flow& flow, std::uint64_t number) const {
  const auto found = numbers.find(flow);
  if (found == numbers.end() || number > found->second) return false;
  const auto without = open.find(flow);
  return without == open.end() || without->second.count(number) == 0;
}

std::uint64_t MessageLog::Received::all_until(const Flow& flow) const {
  const auto found = numbers.find(flow);
  if (found == numbers.end()) return 0;
  const auto without = open.find(flow);
  return without == open.end() || without->second.empty() ? found->second : *without->second.begin() - 1;
}

/// Words of a rank about the messages of a flow.
struct MessageLog::Numbered {
  Flow flow;
  std::int32_t slot = 0;  ///< of the rank that has logged the messages, or received them
  enum Kind : std::int32_t { logged, received, open } kind = logged;
  std::uint64_t number = 0;
  std::uint64_t end = 0;  ///< of those that are logged: one more than the last one
};

void MessageLog::add_received(int own_slot, std::vector<Numbered>& to) const {
  for (const auto& [flow, number] : received_.all()) to.push_back({flow, own_slot, Numbered::received, number, 0});
}

void MessageLog::add_open(int own_slot, std::vector<Numbered>& to) const {
  for (const auto& [flow, numbers] : open_.all()) {
    for (const std::uint64_t number : numbers) to.push_back({flow, own_slot, Numbered::open, number, 0});
  }
  for (const auto& [flow, number] : waited_for_.all()) {
    if (number != 0) to.push_back({flow, own_slot, Numbered::open, number, 0});
  }
}

// Only to whom it concerns: all flows of all ranks are too many for each.
std::vector<MessageLog::Numbered> MessageLog::exchange(Team& team, int own_slot, const std::vector<Numbered>& mine) {
  const std::vector<int> slots = team.gather(own_slot);
  std::map<int, int> ranks;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) ranks[slots[rank]] = static_cast<int>(rank);
  std::map<int, std::vector<Numbered>> words;
  for (const Numbered& each : mine) {
    if (const auto found = ranks.find(each.flow.peer); found != ranks.end()) words[found->second].push_back(each);
  }
  std::vector<Numbered> told;
  for (const auto& [from, of_rank] : team.tell(words)) told.insert(told.end(), of_rank.begin(), of_rank.end());
  return told;
}

MessageLog::Received MessageLog::received_of(const std::vector<Numbered>& told) {
  Received received;
  for (const Numbered& each : told) {
    const Flow flow{each.flow.channel ^ log_entry::kLogged, each.slot, each.flow.tag};
    if (each.kind == Numbered::received) received.numbers[flow] = each.number;
    if (each.kind == Numbered::open) received.open[flow].insert(each.number);
  }
  return received;
}

// Messages of this rank or its predecessor, in the memory and in files.
void MessageLog::find_own_logged(const LogJournals& journals) {
  std::map<Flow, std::vector<Interval>> logged;
  std::optional<EntryHead> latest;
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    for (const Entry& each : journal->messages_of(journals.held.slot())) {
      if (!is_logged(each.head)) continue;
      if (!latest || is_earlier(*latest, each.head)) latest = each.head;
      logged[flow_of(each.head.signature)].push_back({each.head.number, each.head.number + 1});
    }
  }
  if (latest) next_order_ = (latest->depth & log_entry::kOrders) + 1;
  if (spill_) {
    for (const auto& [signature, numbers] : spill_->numbers()) {
      if (signature == DecisionLog::signature_in(journals.held)) continue;
      for (const Interval& each : numbers.intervals()) logged[flow_of(signature)].push_back(each);
    }
  }
  logged_.clear();
  for (auto& [flow, numbers] : logged) logged_[flow] = IntervalSet::of_sorting(numbers);
  own_files_.reset();
}

bool MessageLog::take_up(Team& team, const LogJournals& journals, bool goes_back) {
  const int own_slot = journals.held.slot();
  const bool has_decisions = meet_about_spills(team, journals);
  find_own_logged(journals);
  decisions_.take_up(journals.held, begin_of_decisions(journals), [&] { return spilled_decisions(journals.held); });
  std::vector<Numbered> mine;
  for (const auto& [flow, numbers] : logged_.all()) {
    for (const Interval& each : numbers.intervals())
      mine.push_back({flow, own_slot, Numbered::logged, each.first, each.end});
  }
  forbid_quick_messages();
  if (goes_back) {
    forget_open();
    forget_taken(journals);
  }
  if (!goes_back) add_received(own_slot, mine);
  add_open(own_slot, mine);
  found_.clear();
  const bool is_new = sent_.all().empty() && received_.all().empty();
  const std::vector<int> at_work = team.gather(is_new ? kNobodyAtWork : own_slot);
  const auto told = exchange(team, own_slot, mine);
  received_by_others_ = received_of(told);
  // A rank that has died may need what its predecessor had received.
  received_at_checkpoint_ = {};
  logged_by_others_.clear();
  // Later, those that were new together with this process have received something, too.
  if (is_new) peers_at_work_ = {at_work.begin(), at_work.end()};
  for (const Numbered& each : told) {
    if (each.kind != Numbered::logged) continue;
    logged_by_others_[{each.flow.channel, each.slot, each.flow.tag}].append({each.number, each.end});
  }
  const bool has_messages = spills_of_others_.fetch(
      team, senders_of_spilled(),
      [&](int reader, const SpillsOfOthers::Take& take) { give_logged(journals, reader, take); });
  return has_decisions && has_messages;
}

// Processes that begin together with this one do all again. Communicators that nobody else had are other ones then, and the messages on them are new.
bool MessageLog::predecessor_went_on() const {
  const auto is_ahead = [this](const Flow& flow, std::uint64_t number) {
    const std::uint64_t* const sent = sent_.find(flow);
    return number > (sent != nullptr ? *sent : 0);
  };
  const auto is_logged_ahead = [&](const auto& each) {
    return peers_at_work_.count(each.first.peer) != 0 && !each.second.empty() &&
           is_ahead(each.first, each.second.end() - 1);
  };
  // The log of a dead rank may be lost. Receives that have no message yet may have begun before it was sent.
  const auto is_received_ahead = [&](const auto& each) {
    std::uint64_t latest = each.second;
    while (latest > 0 && !received_by_others_.has(each.first, latest)) --latest;
    return each.first.tag != kTagOfCounter && is_ahead(each.first, latest);
  };
  const auto& received = received_by_others_.numbers;
  return decisions_.is_repeating() || std::any_of(logged_.all().begin(), logged_.all().end(), is_logged_ahead) ||
         std::any_of(received.begin(), received.end(), is_received_ahead);
}

bool MessageLog::has_unreceived() const {
  return std::any_of(logged_by_others_.begin(), logged_by_others_.end(), [this](const auto& each) {
    const auto& [logged, numbers] = each;
    if (peers_at_work_.count(logged.peer) == 0) return false;
    const std::uint64_t* const received =
        received_.find({logged.channel ^ log_entry::kLogged, logged.peer, logged.tag});
    return numbers.end() > (received != nullptr ? *received : 0) + 1;
  });
}

void MessageLog::forget_taken(const LogJournals& journals) {
  Journal& journal = journals.messages;
  bool has_some = false;
  for (const Entry& each : journal.messages_of(journal.slot())) {
    if (each.head.depth != log_entry::kDepthOfTaken) continue;
    journal.release_until(each.head.signature, each.head.number, /*keeps_newest=*/false);
    has_some = true;
  }
  if (has_some) journal.store_again();
}

void MessageLog::forget_open() {
  open_.clear();
  waited_for_.clear();
}

void MessageLog::let_go(const LogJournals& journals) {
  forbid_quick_messages();
  for (Journal* journal : {&journals.messages, &journals.held}) {
    while (journal->release_oldest(DecisionLog::kDepth)) {
    }
  }
  decisions_.forget(journals.held);
  journals.held.store_again();
  if (spill_) {
    spill_->clear();
    note_place(journals);
  }
  sent_.clear();
  received_.clear();
  forget_open();
  missing_.clear();
  lacks_messages_ = lacks_newer_ones_ = is_stored_ = false;
}

void MessageLog::note_checkpoint(bool is_on_all) {
  is_stored_ = true;
  if (is_on_all) lacks_messages_ = lacks_newer_ones_;
}

void MessageLog::meet_at_checkpoint(Team& team, const LogJournals& journals) {
  if (std::exchange(is_stored_, false)) lacks_messages_ = lacks_newer_ones_;
  lacks_newer_ones_ = false;
  if (journals.are_one()) return;
  const int own_slot = journals.held.slot();
  std::vector<Numbered> mine;
  add_received(own_slot, mine);
  add_open(own_slot, mine);
  received_at_checkpoint_ = received_of(exchange(team, own_slot, mine));
  std::erase_if(missing_,
                [this](const auto& each) { return received_at_checkpoint_.all_until(each.first) >= each.second; });
  fault_point("mlog.met");
}

std::vector<MessageLog::Late> MessageLog::late_messages(const LogJournals& journals, std::uint64_t channel) const {
  std::vector<Late> late;
  if (journals.are_one()) return late;
  for (const auto& [flow, number] : missing_) {
    if (flow.channel != (channel ^ log_entry::kLogged) || received_at_checkpoint_.all_until(flow) >= number) continue;
    throw Error(FENIX_ERROR_NO_MEMORY,
                "a message with tag " + std::to_string(flow.tag) +
                    " that has not been received is not in the log any more, and no state can be "
                    "stored without it: raise FENIX_MLOG_MEMORY");
  }
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  auto each = sent_.all().lower_bound({channel ^ log_entry::kLogged, kLeast, kLeast});
  for (; each != sent_.all().end() && each->first.channel == (channel ^ log_entry::kLogged); ++each) {
    const auto& [flow, sent] = *each;
    for (const Entry& entry : journals.messages.messages_of(journals.messages.slot(), signature_of(flow))) {
      const std::uint64_t number = entry.head.number;
      if (number > sent || received_at_checkpoint_.has(flow, number)) continue;
      const auto content = journals.messages.own_payload(entry);
      late.push_back({flow, number, {content.begin(), content.end()}});
    }
  }
  return late;
}

bool MessageLog::log_late(const LogJournals& journals, const Late& message) {
  const Signature signature = signature_of(message.flow);
  const auto own = journals.messages.messages_of(journals.messages.slot(), signature);
  const auto has_number = [&](const Entry& each) { return each.head.number == message.number; };
  // This process has sent it, or its receiver gets it from the log.
  if (std::any_of(own.begin(), own.end(), has_number)) return false;
  if (!put(journals.messages, journals, signature, next_depth(Sending::usual),
           {message.content.size(), message.content}, message.number)) {
    note_missing(message.flow, message.number);
  }
  return !received_by_others_.has(message.flow, message.number);
}

}  // namespace fenix_impl
