// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/replay.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "messages/log/log_entries.hpp"

namespace fenix_impl {
namespace {

/// Returns a flow in logs as the program has it.
Flow flow_of_logged(const Flow& logged) { return logged_flow(logged); }

}  // namespace

FastReceive Replay::allow_receive(const Flow& flow) {
  if (peers_.may_have(flow, flows_.received(flow) + 1)) return {};
  // A process that repeats may have to give such a receive the message that it has had before.
  return flows_.lend_receives(flow, determinants_.is_repeating() ? nullptr : &determinants_.receives());
}

Replay::Begun Replay::begin_receive(const Flow& flow) {
  const std::uint64_t number = flows_.begin_receive(flow);
  return {number, peers_.has(flow, number)};
}

std::optional<LoggedMessage> Replay::logged(const LogJournals& journals, const Flow& of, std::uint64_t number,
                                            bool anew) {
  const Flow flow = logged_flow(of);
  if (!peers_.has(of, number)) return std::nullopt;
  std::vector<LoggedMessage>& found = found_[flow];
  const auto by_number = [](const LoggedMessage& a, const LoggedMessage& b) {
    return a.entry.head.number < b.entry.head.number;
  };
  const auto look_into = [&](const Journal& journal) {
    for (const Entry& each : journal.reader().messages_of(flow.peer, {flow.comm_id, journal.slot(), flow.tag}))
      found.push_back({each, &journal, nullptr});
  };
  for (const bool again : {false, true}) {
    if (again || anew) {
      found.clear();
      look_into(journals.messages);
      if (!journals.are_one()) look_into(journals.held);
      std::stable_sort(found.begin(), found.end(), by_number);
    }
    const auto message = std::lower_bound(
        found.begin(), found.end(), number,
        [](const LoggedMessage& each, std::uint64_t wanted) { return each.entry.head.number < wanted; });
    if (message != found.end() && message->entry.head.number == number) return *message;
    // It is in the files before it leaves the memory.
    const auto spill = spills_.of(flow.peer, again || anew);
    const auto spilled = spill ? spill->find({flow.comm_id, journals.held.slot(), flow.tag}, number) : std::nullopt;
    if (spilled) return LoggedMessage{spilled->entry, nullptr, spill, spilled->file};
  }
  throw Error(FENIX_ERROR_NODATA_FOUND,
              "message " + std::to_string(number) + " with tag " + std::to_string(flow.tag) + " is in no log any more");
}

std::optional<std::pair<Flow, LoggedMessage>> Replay::find_unreceived(const LogJournals& journals,
                                                                      std::uint64_t comm_id, std::optional<int> peer,
                                                                      std::optional<int> tag) {
  std::optional<std::pair<Flow, LoggedMessage>> first;
  for (const auto& [logged, numbers] : peers_.logged()) {
    const Flow flow = flow_of_logged(logged);
    const bool suits = flow.comm_id == comm_id && (!peer || flow.peer == *peer) &&
                       (tag ? flow.tag == *tag : flow.tag < kFirstInternalTag);
    if (!suits || (first && first->first.peer != flow.peer)) continue;
    const std::uint64_t next = flows_.latest_received(flow) + 1;
    const auto message = this->logged(journals, flow, next, /*anew=*/false);
    if (message && (!first || is_earlier(message->entry.head, first->second.entry.head))) first = {flow, *message};
  }
  return first;
}

bool Replay::has_unreceived() const {
  return std::any_of(peers_.logged().begin(), peers_.logged().end(), [this](const auto& each) {
    const auto& [logged, numbers] = each;
    return peers_.is_at_work(logged.peer) && numbers.end() > flows_.latest_received(flow_of_logged(logged)) + 1;
  });
}

// In the journal of the receiver, where its sender finds it also if this rank dies next: its replacement does the same again.
void Replay::note_taken(const LogJournals& journals, const Flow& flow, const EntryHead& taken) {
  if ((taken.depth & log_entry::kSynchronous) == 0) return;
  Journal& journal = journals.messages;
  const Signature signature{flow.comm_id ^ log_entry::kTaken, flow.peer, flow.tag};
  const auto noted = journal.reader().messages_of(journal.slot(), signature);
  if (!noted.empty() && noted.back().head.number >= taken.number) return;
  // Others go on with what they see here: it must not depend on an outcome that nobody else knows.
  writer_.write_determinants(journals);
  // Says why not.
  if (!writer_.put(journal, journals, signature, log_entry::kDepthOfTaken, {}, taken.number))
    journal.writer().append(signature, log_entry::kDepthOfTaken, {}, taken.number);
  journal.ring().release_until(signature, taken.number - 1, /*keeps_newest=*/false);
  fault_point("mlog.taken");
}

void Replay::forget_taken(const LogJournals& journals) {
  Journal& journal = journals.messages;
  bool has_some = false;
  for (const Entry& each : journal.reader().messages_of(journal.slot())) {
    if (each.head.depth != log_entry::kDepthOfTaken) continue;
    journal.ring().release_until(each.head.signature, each.head.number, /*keeps_newest=*/false);
    has_some = true;
  }
  if (has_some) journal.writer().store_again();
}

std::set<int> Replay::senders_of_unreceived() const {
  std::set<int> senders;
  for (const auto& [logged, numbers] : peers_.logged()) {
    if (numbers.end() > flows_.latest_received(flow_of_logged(logged)) + 1) senders.insert(logged.peer);
  }
  return senders;
}

bool Replay::fetch(Team& team, const SpillsOfOthers::Give& give) {
  return spills_.fetch(team, senders_of_unreceived(), give);
}

void Replay::clear() {
  found_.clear();
  spills_ = {};
}

}  // namespace fenix_impl
