// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/message_log.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/fault.hpp"
#include "messages/log/flow_exchange.hpp"
#include "messages/log/stable_numbers.hpp"

namespace fenix_impl {
namespace {

constexpr int kNobodyAtWork = -1;  // no slot

}  // namespace

void MessageLog::clear() {
  close_fast_path();
  active_ = false;
  collector_.clear();
  writer_.clear();
  numbers_.clear();
  sender_.clear();
  flows_ = {};
  determinants_ = {};
  gaps_ = {};
  files_ = {};
  peers_ = {};
  // After the own files, which those of others refer to.
  replay_.clear();
}

// Without the files of its predecessor a new process sends the messages again. It must have the determinants.
bool MessageLog::meet_about_spills(Team& team, const LogJournals& journals) {
  LogSpill* const own = files_.spill();
  const auto unseen = own != nullptr ? files_.take_over(journals) : std::nullopt;
  const Signature determinants = DeterminantLog::signature_in(journals.held);
  const auto take = [&](const EntryHead& head, std::span<const std::byte> payload) {
    const LogSpill::Item item{head, payload, /*has_determinants=*/true};
    return own->append(std::span(&item, 1));
  };
  const bool has_some = replay_.spills().meet(
      team, own, journals.held.slot(), unseen, [&](const Signature& each) { return each == determinants; }, take);
  if (!unseen) return has_some;
  if (!has_some || own->place().determinants < unseen->determinants) return false;
  // The senders remove them next.
  eviction_.note_place(journals);
  return true;
}

bool MessageLog::reattach(Team& team, const LogJournals& journals, bool goes_back) {
  const int own_slot = journals.held.slot();
  const bool has_determinants = meet_about_spills(team, journals);
  sender_.find_logged(journals);
  determinants_.reattach(journals.held, begin_of_determinants(journals.held),
                         [&] { return files_.determinants(journals.held); });
  std::vector<FlowStatement> mine;
  sender_.add_logged(own_slot, mine);
  close_fast_path();
  if (goes_back) {
    flows_.forget_open();
    Replay::forget_taken(journals);
  }
  if (!goes_back) add_received(flows_, own_slot, mine);
  add_open(flows_, own_slot, mine);
  replay_.forget_found();
  const bool is_new = flows_.are_new();
  const std::vector<int> at_work = team.gather(is_new ? kNobodyAtWork : own_slot);
  peers_.note_repair(exchange(team, own_slot, mine));
  // Later, those that were new together with this process have received something, too.
  if (is_new) peers_.note_at_work(at_work);
  const bool has_messages =
      replay_.fetch(team, [&](int reader, const TakeEntry& take) { sender_.give(journals, reader, take); });
  return has_determinants && has_messages;
}

void MessageLog::discard_all(const LogJournals& journals) {
  close_fast_path();
  for (Journal* journal : {&journals.messages, &journals.held}) {
    while (journal->ring().release_oldest(DeterminantLog::kDepth)) {
    }
  }
  determinants_.forget(journals.held);
  journals.held.writer().store_again();
  if (files_.in_use()) {
    files_.spill()->clear();
    eviction_.note_place(journals);
  }
  flows_.forget_numbers();
  flows_.forget_open();
  gaps_.forget();
}

void MessageLog::meet_at_checkpoint(Team& team, const LogJournals& journals) {
  gaps_.begin_meeting();
  if (journals.are_one()) return;
  const int own_slot = journals.held.slot();
  std::vector<FlowStatement> mine;
  add_received(flows_, own_slot, mine);
  add_open(flows_, own_slot, mine);
  peers_.note_checkpoint(exchange(team, own_slot, mine));
  gaps_.forget_received(peers_.received_at_checkpoint());
  fault_point("mlog.met");
}

bool MessageLog::lacks_determinants_of_predecessor(const LogJournals& journals) const {
  return determinants_.lacks_those_of_predecessor(journals.held, begin_of_determinants(journals.held));
}

// Processes that begin together with this one do all again. Communicators that nobody else had are other ones then, and the messages on them are new.
bool MessageLog::predecessor_went_on() const {
  // The log of a dead rank may be lost. Receives that have no message yet may have begun before it was sent.
  const auto is_received_ahead = [&](const auto& each) {
    std::uint64_t latest = each.second;
    while (latest > 0 && !peers_.received().has(each.first, latest)) --latest;
    return each.first.tag != kTagOfCounter && latest > flows_.latest_sent(each.first);
  };
  const auto& received = peers_.received().numbers();
  return determinants_.is_repeating() || sender_.has_some_ahead([this](int slot) { return peers_.is_at_work(slot); }) ||
         std::any_of(received.begin(), received.end(), is_received_ahead);
}

}  // namespace fenix_impl
