// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/message_log.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "messages/log/log_entries.hpp"

namespace fenix_impl {

bool MessageLog::is_in_log(const Flow& flow, std::uint64_t number) const {
  const IntervalSet* const logged = logged_.find(flow);
  return logged != nullptr && has_logged(*logged, number);
}

bool MessageLog::is_to_be_sent(const Flow& of) const {
  const Flow flow{of.channel ^ log_entry::kLogged, of.peer, of.tag};
  const std::uint64_t* const sent = sent_.find(flow);
  const std::uint64_t number = sent != nullptr ? *sent + 1 : 1;
  // The log of a dead rank may be lost. Its receivers know what they have.
  return !is_in_log(flow, number) && !received_by_others_.has(flow, number);
}

std::optional<std::span<const std::byte>> MessageLog::log_send(const LogJournals& journals, const Flow& of,
                                                               const Payload& payload, Sending sending) {
  const Flow flow{of.channel ^ log_entry::kLogged, of.peer, of.tag};
  std::uint64_t& sent = sent_[flow];
  const bool is_logged = is_in_log(flow, sent + 1);
  const bool is_sent = !is_logged && !received_by_others_.has(flow, sent + 1);
  write_decisions(journals);
  std::optional<std::span<const std::byte>> content;
  if (is_logged && comparing_ != Comparing::off) compare_with_log(journals, signature_of(flow), sent + 1, payload);
  if (!is_logged) content = log_message(journals, signature_of(flow), sent + 1, payload, sending);
  ++sent;
  fault_point("replay.logged");
  return is_sent ? content : std::nullopt;
}

std::optional<std::span<const std::byte>> MessageLog::log_quickly(const LogJournals& journals, const QuickSend& flow,
                                                                  const Payload& payload) {
  if (decisions_.has_new()) return std::nullopt;
  try {
    journals.messages.append(flow.signature, log_entry::kLeastDepth | (next_order_ & log_entry::kOrders), payload,
                             *flow.logged + 1);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  ++next_order_;
  ++*flow.logged;
  fault_point("replay.logged");
  return journals.messages.own_payload(journals.messages.latest());
}

std::uint32_t MessageLog::next_depth(Sending sending) {
  const std::uint32_t order = next_order_++ & log_entry::kOrders;
  return log_entry::kLeastDepth | order | (sending == Sending::synchronous ? log_entry::kSynchronous : 0);
}

std::uint64_t MessageLog::latest_sent(const Flow& flow) const {
  const std::uint64_t* const sent = sent_.find({flow.channel ^ log_entry::kLogged, flow.peer, flow.tag});
  return sent != nullptr ? *sent : 0;
}

// In the journal of the receiver, where its sender finds it also if this rank dies next: its replacement does the same again.
void MessageLog::note_taken(const LogJournals& journals, const Flow& flow, const EntryHead& taken) {
  if ((taken.depth & log_entry::kSynchronous) == 0) return;
  Journal& journal = journals.messages;
  const Signature signature{flow.channel ^ log_entry::kTaken, flow.peer, flow.tag};
  const auto noted = journal.messages_of(journal.slot(), signature);
  if (!noted.empty() && noted.back().head.number >= taken.number) return;
  // Others go on with what they see here: it must not depend on an outcome that nobody else knows.
  write_decisions(journals);
  // Says why not.
  if (!put(journal, journals, signature, log_entry::kDepthOfTaken, {}, taken.number))
    journal.append(signature, log_entry::kDepthOfTaken, {}, taken.number);
  journal.release_until(signature, taken.number - 1, /*keeps_newest=*/false);
  fault_point("mlog.taken");
}

bool MessageLog::was_taken(const LogJournals& journals, const Flow& of, std::uint64_t number) const {
  const auto told = received_by_others_.numbers.find({of.channel ^ log_entry::kLogged, of.peer, of.tag});
  if (told != received_by_others_.numbers.end() && told->second >= number) return true;
  const Journal& journal = journals.messages;
  const auto noted = journal.messages_of(of.peer, {of.channel ^ log_entry::kTaken, journal.slot(), of.tag});
  return !noted.empty() && noted.back().head.number >= number;
}

std::optional<EntryHead> MessageLog::own_logged(const LogJournals& journals, const Signature& signature,
                                                std::uint64_t number) {
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    if (const Entry* const own = journal->own(signature, number); own != nullptr) return own->head;
  }
  if (!spill_) return std::nullopt;
  // Entries go to the files while it repeats.
  if (own_files_ == nullptr || own_files_place_ != spill_->place()) {
    own_files_place_ = spill_->place();
    own_files_ = std::make_unique<SpillReader>(spill_->options().folder, own_files_place_,
                                               [](const Signature&) { return true; });
    (void)own_files_->look();
  }
  const auto spilled = own_files_->find(signature, number);
  return spilled ? std::optional(spilled->entry.head) : std::nullopt;
}

// Another message than before means that the program does not do the same again: its receiver has the other history. But programs also send times, process
// numbers and memory without meaning, on which nothing depends. These cannot be told apart; another length can.
void MessageLog::compare_with_log(const LogJournals& journals, const Signature& signature, std::uint64_t number,
                                  const Payload& payload) {
  const auto before = own_logged(journals, signature, number);
  if (!before) return;
  std::vector<std::byte> packed(payload.pack ? payload.bytes : 0);
  if (payload.pack) payload.pack(packed);
  const auto content = payload.pack ? std::span<const std::byte>(packed) : payload.data;
  const bool is_as_long = before->bytes == payload.bytes;
  const bool is_told = comparing_ == Comparing::on && has_told_difference_;
  if (is_as_long && (is_told || before->hash == hash_bytes(content))) return;
  const std::string text = "a replacement does not do what its predecessor did: message " + std::to_string(number) +
                           " to rank " + std::to_string(signature.destination) + " with tag " +
                           std::to_string(signature.tag) + " had " + std::to_string(before->bytes) +
                           " bytes, and now has " + std::to_string(payload.bytes) + (is_as_long ? " other ones" : "") +
                           "; time, random numbers and files are not logged (FENIX_MLOG_COMPARE)";
  if (comparing_ == Comparing::strict || !is_as_long) throw AnotherHistory(text);
  has_told_difference_ = true;
  log().warn("{}; more such messages are not told", text);
}

std::span<const std::byte> MessageLog::log_message(const LogJournals& journals, const Signature& signature,
                                                   std::uint64_t number, const Payload& payload, Sending sending) {
  if (put(journals.messages, journals, signature, next_depth(sending), payload, number)) {
    return journals.messages.own_payload(journals.messages.latest());
  }
  note_missing(flow_of(signature), number);
  if (!payload.pack && payload.bytes > 0) return payload.data;
  // A message without bytes has an address, too: it is sent.
  unlogged_.reserve(1);
  unlogged_.resize(payload.bytes);
  payload.copy_to(unlogged_);
  return unlogged_;
}

std::optional<MessageLog::Logged> MessageLog::logged(const LogJournals& journals, const Flow& of, std::uint64_t number,
                                                     bool anew) {
  const Flow flow{of.channel ^ log_entry::kLogged, of.peer, of.tag};
  const auto logged = logged_by_others_.find(flow);
  if (logged == logged_by_others_.end() || !has_logged(logged->second, number)) return std::nullopt;
  std::vector<Logged>& found = found_[flow];
  const auto by_number = [](const Logged& a, const Logged& b) { return a.entry.head.number < b.entry.head.number; };
  const auto look_into = [&](const Journal& journal) {
    for (const Entry& each : journal.messages_of(flow.peer, {flow.channel, journal.slot(), flow.tag}))
      found.push_back({each, &journal, nullptr});
  };
  for (const bool again : {false, true}) {
    if (again || anew) {
      found.clear();
      look_into(journals.messages);
      if (!journals.are_one()) look_into(journals.held);
      std::stable_sort(found.begin(), found.end(), by_number);
    }
    const auto message =
        std::lower_bound(found.begin(), found.end(), number,
                         [](const Logged& each, std::uint64_t wanted) { return each.entry.head.number < wanted; });
    if (message != found.end() && message->entry.head.number == number) return *message;
    // It is in the files before it leaves the memory.
    const auto spill = spills_of_others_.of(flow.peer, again || anew);
    const auto spilled = spill ? spill->find({flow.channel, journals.held.slot(), flow.tag}, number) : std::nullopt;
    if (spilled) return Logged{spilled->entry, nullptr, spill, spilled->file};
  }
  throw Error(FENIX_ERROR_NODATA_FOUND,
              "message " + std::to_string(number) + " with tag " + std::to_string(flow.tag) + " is in no log any more");
}

std::optional<std::pair<MessageLog::Flow, MessageLog::Logged>> MessageLog::find_unreceived(const LogJournals& journals,
                                                                                           std::uint64_t channel,
                                                                                           std::optional<int> peer,
                                                                                           std::optional<int> tag) {
  std::optional<std::pair<Flow, Logged>> first;
  for (const auto& [logged, numbers] : logged_by_others_) {
    const Flow flow{logged.channel ^ log_entry::kLogged, logged.peer, logged.tag};
    const bool suits = flow.channel == channel && (!peer || flow.peer == *peer) &&
                       (tag ? flow.tag == *tag : flow.tag < kFirstInternalTag);
    if (!suits || (first && first->first.peer != flow.peer)) continue;
    const std::uint64_t* const received = received_.find(flow);
    const std::uint64_t next = received != nullptr ? *received + 1 : 1;
    const auto message = this->logged(journals, flow, next, /*anew=*/false);
    if (message && (!first || is_earlier(message->entry.head, first->second.entry.head))) first = {flow, *message};
  }
  return first;
}

QuickSend MessageLog::allow_send(const Flow& of) {
  const Flow flow{of.channel ^ log_entry::kLogged, of.peer, of.tag};
  std::uint64_t* const sent = sent_.find(flow);
  // The first message of a flow makes the counter.
  if (sent == nullptr) return {};
  const std::uint64_t next = *sent + 1;
  const IntervalSet* const logged = logged_.find(flow);
  if (logged != nullptr && is_before_end(*logged, next)) return {};
  const auto received = received_by_others_.numbers.find(flow);
  if (received != received_by_others_.numbers.end() && received->second >= next) return {};
  return {true, nullptr, &decisions_.has_new(), signature_of(flow), sent};
}

QuickReceive MessageLog::allow_receive(const Flow& flow) {
  forget_quiet_flows();
  const auto logged = logged_by_others_.find({flow.channel ^ log_entry::kLogged, flow.peer, flow.tag});
  std::uint64_t& begun = received_[flow];
  if (logged != logged_by_others_.end() && is_before_end(logged->second, begun + 1)) return {};
  // A process that repeats may have to give such a receive the message that it has had before.
  std::uint64_t* const cancellable = decisions_.is_repeating() ? nullptr : &decisions_.receives();
  return {true, &begun, &waited_for_[flow], cancellable, &open_[flow]};
}

MessageLog::Begun MessageLog::begin_receive(const Flow& flow) {
  forget_quiet_flows();
  Begun begun{++received_[flow], false};
  open_[flow].add(begun.number);
  if (logged_by_others_.empty()) return begun;
  const auto logged = logged_by_others_.find({flow.channel ^ log_entry::kLogged, flow.peer, flow.tag});
  begun.is_logged = logged != logged_by_others_.end() && has_logged(logged->second, begun.number);
  return begun;
}

// Lists stay when they are empty: there will be a next message. Where each message has another tag, there are many of them in time.
void MessageLog::forget_quiet_flows() {
  if (open_.all().size() + waited_for_.all().size() < most_flows_) return;
  forbid_quick_messages();
  open_.erase_if([](const auto& each) { return each.second.empty(); });
  waited_for_.erase_if([](const auto& each) { return each.second == 0; });
  most_flows_ = std::max(kLeastFlows, 2 * (open_.all().size() + waited_for_.all().size()));
}

void MessageLog::end_receive(const Flow& flow, std::uint64_t number) {
  if (auto* const open = open_.find(flow); open != nullptr) open->remove(number);
  if (std::uint64_t* const waited_for = waited_for_.find(flow); waited_for != nullptr && *waited_for == number) {
    *waited_for = 0;
  }
}

void MessageLog::take_back(const Flow& flow, bool is_sent) {
  if (is_sent) {
    --sent_[{flow.channel ^ log_entry::kLogged, flow.peer, flow.tag}];
  } else {
    end_receive(flow, received_[flow]--);
  }
}

}  // namespace fenix_impl
