// SPDX-License-Identifier: BSD-3-Clause
// The log of messages goes on in files.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/message_log.hpp"

namespace fenix_impl {

Signature MessageLog::signature_of_place(const Journal& journal) { return {log_entry::kSpilled, journal.slot(), 0}; }

bool MessageLog::Logged::read(int slot, std::span<std::byte> to) const {
  return journal != nullptr ? journal->read(slot, entry, to) : spill->read({file, entry}, to);
}

void MessageLog::spill_to(const SpillOptions& options, const LogJournals& journals) {
  if (!spill_ && !options.folder.empty()) spill_ = std::make_unique<LogSpill>(options, journals.held.slot());
}

void MessageLog::note_place(const LogJournals& journals) {
  if (!spill_ || noted_place_ == spill_->place() || has_noted_place(journals)) return;
  // A journal that was taken back may have far more than there is room for.
  while (can_spill() && journals.held.oldest(DecisionLog::kDepth) != nullptr) {
    if (spill(journals, journals.held) || has_noted_place(journals)) return;
  }
  while (let_go_of_oldest(journals.held, journals)) {
    if (has_noted_place(journals)) return;
  }
  throw Error(FENIX_ERROR_NO_MEMORY, "the log of messages has no room for the place of its files");
}

bool MessageLog::has_noted_place(const LogJournals& journals) {
  const auto place = std::as_bytes(std::span(&spill_->place(), 1));
  try {
    const std::uint64_t number = journals.held.latest_number() + 1;
    journals.held.append(signature_of_place(journals.held), 1, {place.size(), place}, number);
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
    return false;
  }
  noted_place_ = spill_->place();
  fault_point("mlog.placed");
  return true;
}

// The oldest part of the log goes to the files all at once: then the ring has room for a while, and its start moves on. The place of the
// files is in the journal before the entries leave it: a replacement knows from it what has to be in the files.
bool MessageLog::spill(const LogJournals& journals, Journal& from) {
  constexpr std::size_t kPart = 4;
  if (!can_spill()) return false;
  std::vector<LogSpill::Item> items;
  const std::vector<Entry> entries = from.oldest_part(DecisionLog::kDepth, kPart);
  items.reserve(entries.size());
  for (const Entry& each : entries) {
    items.push_back({each.head, from.own_payload(each), each.head.depth == DecisionLog::kDepth});
  }
  if (items.empty()) return false;
  const std::uint64_t decisions = spill_->place().decisions;
  if (!spill_->append(items) || (spill_->place().decisions != decisions && !spill_->sync())) {
    give_up_files(journals);
    return false;
  }
  const bool is_noted = has_noted_place(journals);
  // The note may have moved some of them to the end of the ring: these stay, and others must not go in their place. The rest is in its order.
  auto written = items.begin();
  for (const Entry* oldest = from.oldest(DecisionLog::kDepth); oldest != nullptr;
       oldest = from.oldest(DecisionLog::kDepth)) {
    written = std::find_if(written, items.end(), [&](const LogSpill::Item& each) {
      return each.head.signature == oldest->head.signature && each.head.number == oldest->head.number;
    });
    if (written == items.end()) break;
    (void)from.release_oldest(DecisionLog::kDepth);
    ++written;
  }
  return is_noted || has_noted_place(journals);
}

// The files have older messages than those that are about to be let go of.
void MessageLog::give_up_files(const LogJournals& journals) {
  log().warn("the log of messages cannot go on in files: {}", spill_->why());
  for (const auto& [signature, numbers] : spill_->numbers()) {
    if (signature == DecisionLog::signature_in(journals.held)) {
      (void)decisions_.lose(journals.held, numbers.end() - 1);
    } else {
      note_missing(flow_of(signature), numbers.end() - 1);
    }
  }
  spill_->clear();
  note_place(journals);
}

// A new process finds in its journal what its predecessor had written into files.
std::optional<SpillPlace> MessageLog::take_over_spill(const LogJournals& journals) {
  const int own_slot = journals.held.slot();
  if (noted_place_ != SpillPlace()) return std::nullopt;
  const auto told = journals.held.messages_of(own_slot, signature_of_place(journals.held));
  if (told.empty()) return std::nullopt;
  SpillPlace place;
  if (!journals.held.read(own_slot, told.back(), std::as_writable_bytes(std::span(&place, 1)))) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the place of the files of a predecessor is damaged");
  }
  if (!spill_->take_over(place)) return place;
  noted_place_ = place;
  // A journal that was taken back has what its owner had let go of.
  const auto files = spill_->numbers();
  const auto is_in_files = [&files](const Entry* entry) {
    const auto found = entry != nullptr ? files.find(entry->head.signature) : files.end();
    return found != files.end() && found->second.covers(entry->head.number, entry->head.number + 1);
  };
  for (Journal* const journal : {&journals.messages, &journals.held}) {
    while (is_in_files(journal->oldest(DecisionLog::kDepth))) (void)journal->release_oldest(DecisionLog::kDepth);
  }
  return std::nullopt;
}

// Without the files of its predecessor a new process sends the messages again. It must have the decisions.
bool MessageLog::meet_about_spills(Team& team, const LogJournals& journals) {
  const auto unseen = spill_ ? take_over_spill(journals) : std::nullopt;
  const Signature decisions = DecisionLog::signature_in(journals.held);
  const auto take = [&](const EntryHead& head, std::span<const std::byte> payload) {
    const LogSpill::Item item{head, payload, /*has_decisions=*/true};
    return spill_->append(std::span(&item, 1));
  };
  const bool has_some = spills_of_others_.meet(
      team, spill_.get(), journals.held.slot(), unseen, [&](const Signature& each) { return each == decisions; }, take);
  if (!unseen) return has_some;
  if (!has_some || spill_->place().decisions < unseen->decisions) return false;
  // The senders remove them next.
  note_place(journals);
  return true;
}

std::vector<DecisionLog::Older> MessageLog::spilled_decisions(const Journal& journal) const {
  std::vector<DecisionLog::Older> decisions;
  if (!spill_ || spill_->place().decisions == 0) return decisions;
  const Signature signature = DecisionLog::signature_in(journal);
  SpillReader files(spill_->options().folder, spill_->place(),
                    [&](const Signature& each) { return each == signature; });
  if (!files.look()) throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor cannot be read");
  for (const Spilled& each : files.all()) {
    DecisionLog::Older& one = decisions.emplace_back();
    one.number = each.entry.head.number;
    one.payload.resize(each.entry.head.bytes);
    if (!files.read(each, one.payload)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor are damaged");
    }
  }
  return decisions;
}

std::set<int> MessageLog::senders_of_spilled() const {
  std::set<int> senders;
  for (const auto& [flow, numbers] : logged_by_others_) {
    const std::uint64_t* const received = received_.find({flow.channel ^ log_entry::kLogged, flow.peer, flow.tag});
    if (numbers.end() > (received != nullptr ? *received : 0) + 1) senders.insert(flow.peer);
  }
  return senders;
}

// Gives those in the memory as well: they may leave it before the reader comes to them.
void MessageLog::give_logged(const LogJournals& journals, int reader, const SpillsOfOthers::Take& take) const {
  const auto is_for_it = [reader](const Signature& each) { return each.destination == reader; };
  if (spill_) {
    SpillReader files(spill_->options().folder, spill_->place(), is_for_it);
    (void)files.look();
    std::vector<std::byte> payload;
    for (const Spilled& each : files.all()) {
      payload.resize(each.entry.head.bytes);
      if (!is_logged(each.entry.head) || !files.read(each, payload)) continue;
      if (!take(each.entry.head, payload)) return;
    }
  }
  const auto give = [&](const Journal& journal) {
    for (const Entry& each : journal.messages_of(journal.slot())) {
      if (!is_logged(each.head) || !is_for_it(each.head.signature)) continue;
      if (!take(each.head, journal.own_payload(each))) return;
    }
  };
  give(journals.messages);
  if (!journals.are_one()) give(journals.held);
}

}  // namespace fenix_impl
