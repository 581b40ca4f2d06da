// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/message_log.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kLogged = 0x6C6F67676564U;       // in channels of logged messages
constexpr std::uint64_t kNumbers = 0x6E756D62657273U;    // in channels of stored numbers
constexpr std::uint64_t kSpilled = 0x7370696C6C6564U;    // of entries that name the files in which the log goes on
constexpr std::uint64_t kPositions = 0x706F736974696FU;  // of stored numbers that are places in the stream of decisions
// Depths from this one on are those of logged messages: all are kept. The other bits tell in which order they were sent.
constexpr std::uint32_t kLeastDepth = 1U << 31U;

bool is_logged(const EntryHead& head) { return head.depth >= kLeastDepth; }

/// Whether a message was sent before another one of the same sender. Their orders begin anew after 2^31.
bool is_earlier(const EntryHead& one, const EntryHead& other) {
  return static_cast<std::int32_t>((one.depth - other.depth) << 1U) < 0;
}

/// Whether a log with these messages of a flow has had a message. Those before its first one were let go of: nobody needs them again.
bool has_logged(const IntervalSet& numbers, std::uint64_t number) {
  return numbers.covers(number, number + 1) || (!numbers.empty() && number < numbers.intervals().front().first);
}

/// Whether a log with these messages of a flow may have had this message, or a later one.
bool is_before_end(const IntervalSet& numbers, std::uint64_t number) {
  return !numbers.empty() && number < numbers.intervals().back().end;
}

}  // namespace

Signature MessageLog::signature_of_numbers(const Signature& signature) {
  return {signature.channel ^ kNumbers, signature.destination, signature.tag};
}

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
  enum Kind : std::int32_t {
    logged,
    received,
    open,
    at_work
  } kind = logged;  ///< at_work: it has sent or received something
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

MessageLog::Received MessageLog::received_of(const std::vector<std::vector<Numbered>>& told, int own_slot) {
  Received received;
  for (const auto& of_rank : told) {
    for (const Numbered& each : of_rank) {
      if (each.flow.peer != own_slot) continue;
      const Flow flow{each.flow.channel ^ kLogged, each.slot, each.flow.tag};
      if (each.kind == Numbered::received) received.numbers[flow] = each.number;
      if (each.kind == Numbered::open) received.open[flow].insert(each.number);
    }
  }
  return received;
}

bool MessageLog::take_up(Team& team, const LogJournals& journals, bool goes_back) {
  const int own_slot = journals.held.slot();
  const bool has_decisions = meet_about_spills(team, journals);
  std::map<Flow, std::vector<Interval>> logged;
  std::optional<EntryHead> latest;
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    for (const Entry& each : journal->messages_of(own_slot)) {
      if (!is_logged(each.head)) continue;
      if (!latest || is_earlier(*latest, each.head)) latest = each.head;
      logged[flow_of(each.head.signature)].push_back({each.head.number, each.head.number + 1});
    }
  }
  if (latest) next_order_ = latest->depth + 1;
  if (spill_) {
    for (const auto& [signature, numbers] : spill_->numbers()) {
      if (signature == DecisionLog::signature_in(journals.held)) continue;
      for (const Interval& each : numbers.intervals()) logged[flow_of(signature)].push_back(each);
    }
  }
  decisions_.take_up(journals.held, begin_of_decisions(journals), [&] { return spilled_decisions(journals.held); });
  logged_.clear();
  own_files_.reset();
  std::vector<Numbered> mine;
  for (auto& [flow, numbers] : logged) {
    const IntervalSet& all = logged_[flow] = IntervalSet::of_sorting(numbers);
    for (const Interval& each : all.intervals())
      mine.push_back({flow, own_slot, Numbered::logged, each.first, each.end});
  }
  forbid_quick_messages();
  if (goes_back) forget_open();
  if (!goes_back) add_received(own_slot, mine);
  add_open(own_slot, mine);
  found_.clear();
  const bool is_new = sent_.all().empty() && received_.all().empty();
  if (!is_new) mine.push_back({{}, own_slot, Numbered::at_work, 0, 0});
  const auto told = team.gather_lists(std::span<const Numbered>(mine));
  received_by_others_ = received_of(told, own_slot);
  // A rank that has died may need what its predecessor had received.
  received_at_checkpoint_ = {};
  logged_by_others_.clear();
  // Later, those that were new together with this process have received something, too.
  if (is_new) peers_at_work_.clear();
  for (const auto& of_rank : told) {
    for (const Numbered& each : of_rank) {
      if (is_new && each.kind == Numbered::at_work) peers_at_work_.insert(each.slot);
      if (each.flow.peer != own_slot || each.kind != Numbered::logged) continue;
      logged_by_others_[{each.flow.channel, each.slot, each.flow.tag}].append({each.number, each.end});
    }
  }
  const bool has_messages = spills_of_others_.fetch(
      team, senders_of_spilled(),
      [&](int reader, const SpillsOfOthers::Take& take) { give_logged(journals, reader, take); });
  return has_decisions && has_messages;
}

bool MessageLog::is_in_log(const Flow& flow, std::uint64_t number) const {
  const IntervalSet* const logged = logged_.find(flow);
  return logged != nullptr && has_logged(*logged, number);
}

bool MessageLog::is_to_be_sent(const Flow& of) const {
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
  const std::uint64_t* const sent = sent_.find(flow);
  const std::uint64_t number = sent != nullptr ? *sent + 1 : 1;
  // The log of a dead rank may be lost. Its receivers know what they have.
  return !is_in_log(flow, number) && !received_by_others_.has(flow, number);
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
    const std::uint64_t* const received = received_.find({logged.channel ^ kLogged, logged.peer, logged.tag});
    return numbers.end() > (received != nullptr ? *received : 0) + 1;
  });
}

std::optional<std::span<const std::byte>> MessageLog::log_send(const LogJournals& journals, const Flow& of,
                                                               const Payload& payload) {
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
  std::uint64_t& sent = sent_[flow];
  const bool is_logged = is_in_log(flow, sent + 1);
  const bool is_sent = !is_logged && !received_by_others_.has(flow, sent + 1);
  write_decisions(journals);
  std::optional<std::span<const std::byte>> content;
  if (is_logged && comparing_ != Comparing::off) compare_with_log(journals, signature_of(flow), sent + 1, payload);
  if (!is_logged) content = log_message(journals, signature_of(flow), sent + 1, payload);
  ++sent;
  fault_point("replay.logged");
  return is_sent ? content : std::nullopt;
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
                                                   std::uint64_t number, const Payload& payload) {
  if (put(journals.messages, journals, signature, kLeastDepth | next_order_++, payload, number)) {
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
  received_at_checkpoint_ = received_of(team.gather_lists(std::span<const Numbered>(mine)), own_slot);
  std::erase_if(missing_,
                [this](const auto& each) { return received_at_checkpoint_.all_until(each.first) >= each.second; });
  fault_point("mlog.met");
}

std::vector<MessageLog::Late> MessageLog::late_messages(const LogJournals& journals, std::uint64_t channel) const {
  std::vector<Late> late;
  if (journals.are_one()) return late;
  for (const auto& [flow, number] : missing_) {
    if (flow.channel != (channel ^ kLogged) || received_at_checkpoint_.all_until(flow) >= number) continue;
    throw Error(FENIX_ERROR_NO_MEMORY,
                "a message with tag " + std::to_string(flow.tag) +
                    " that has not been received is not in the log any more, and no state can be "
                    "stored without it: raise FENIX_MLOG_MEMORY");
  }
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  auto each = sent_.all().lower_bound({channel ^ kLogged, kLeast, kLeast});
  for (; each != sent_.all().end() && each->first.channel == (channel ^ kLogged); ++each) {
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
  if (!put(journals.messages, journals, signature, kLeastDepth | next_order_++,
           {message.content.size(), message.content}, message.number)) {
    note_missing(message.flow, message.number);
  }
  return !received_by_others_.has(message.flow, message.number);
}

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

// ------------------------------------------------------------------------------------------------------------------ want of room

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

// ---------------------------------------------------------------------------------------------------------------------- files

Signature MessageLog::signature_of_place(const Journal& journal) { return {kSpilled, journal.slot(), 0}; }

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
  std::size_t all = 0;
  const std::vector<Entry> entries = from.messages_of(from.slot());
  for (const Entry& each : entries) all += entry_bytes(each.head.bytes);
  std::size_t taken = 0;
  for (const Entry& each : entries) {
    if (each.head.depth < DecisionLog::kDepth) continue;
    if (taken > all / kPart) break;
    items.push_back({each.head, from.own_payload(each), each.head.depth == DecisionLog::kDepth});
    taken += entry_bytes(each.head.bytes);
  }
  if (items.empty()) return false;
  const std::uint64_t decisions = spill_->place().decisions;
  if (!spill_->append(items) || (spill_->place().decisions != decisions && !spill_->sync())) {
    give_up_files(journals);
    return false;
  }
  std::set<std::pair<Signature, std::uint64_t>> written;
  for (const LogSpill::Item& each : items) written.emplace(each.head.signature, each.head.number);
  const bool is_noted = has_noted_place(journals);
  // The note may have moved some of them to the end of the ring: these stay, and others must not go in their place.
  for (const Entry* oldest = from.oldest(DecisionLog::kDepth);
       oldest != nullptr && written.count({oldest->head.signature, oldest->head.number}) != 0;
       oldest = from.oldest(DecisionLog::kDepth)) {
    (void)from.release_oldest(DecisionLog::kDepth);
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
    const std::uint64_t* const received = received_.find({flow.channel ^ kLogged, flow.peer, flow.tag});
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

// --------------------------------------------------------------------------------------------------------------------- receiving

std::optional<MessageLog::Logged> MessageLog::logged(const LogJournals& journals, const Flow& of, std::uint64_t number,
                                                     bool anew) {
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
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
    const Flow flow{logged.channel ^ kLogged, logged.peer, logged.tag};
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
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
  const std::uint64_t* const sent = sent_.find(flow);
  const std::uint64_t next = sent != nullptr ? *sent + 1 : 1;
  const IntervalSet* const logged = logged_.find(flow);
  if (logged != nullptr && is_before_end(*logged, next)) return {};
  const auto received = received_by_others_.numbers.find(flow);
  if (received != received_by_others_.numbers.end() && received->second >= next) return {};
  return {true, nullptr, &decisions_.has_new()};
}

QuickReceive MessageLog::allow_receive(const Flow& flow) {
  forget_quiet_flows();
  const auto logged = logged_by_others_.find({flow.channel ^ kLogged, flow.peer, flow.tag});
  std::uint64_t& begun = received_[flow];
  if (logged != logged_by_others_.end() && is_before_end(logged->second, begun + 1)) return {};
  return {true, &begun, &waited_for_[flow], nullptr};
}

MessageLog::Begun MessageLog::begin_receive(const Flow& flow) {
  forget_quiet_flows();
  Begun begun{++received_[flow], false};
  open_[flow].push_back(begun.number);
  if (logged_by_others_.empty()) return begun;
  const auto logged = logged_by_others_.find({flow.channel ^ kLogged, flow.peer, flow.tag});
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
  if (auto* const open = open_.find(flow); open != nullptr) std::erase(*open, number);
  if (std::uint64_t* const waited_for = waited_for_.find(flow); waited_for != nullptr && *waited_for == number) {
    *waited_for = 0;
  }
}

void MessageLog::take_back(const Flow& flow, bool is_sent) {
  if (is_sent) {
    --sent_[{flow.channel ^ kLogged, flow.peer, flow.tag}];
  } else {
    end_receive(flow, received_[flow]--);
  }
}

std::vector<MessageLog::Number> MessageLog::position_numbers(const Journal& journal) const {
  const DecisionLog::Position& position = decisions_.position();
  return {{{kPositions, journal.slot(), 0}, 0, position.outcomes},
          {{kPositions, journal.slot(), 1}, 0, position.receives}};
}

bool MessageLog::take_position(const Number& number, DecisionLog::Position& position) {
  if (number.flow.channel != kPositions) return false;
  (number.flow.tag == 0 ? position.outcomes : position.receives) = number.number;
  return true;
}

std::vector<MessageLog::Number> MessageLog::numbers_of(const LogJournals& journals, std::uint64_t channel) const {
  std::vector<Number> numbers = position_numbers(journals.held);
  const auto take = [&](const std::map<Flow, std::uint64_t>& all, std::uint64_t of_channel, bool are_sent) {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    auto each = all.lower_bound({of_channel, kLeast, kLeast});
    for (; each != all.end() && each->first.channel == of_channel; ++each) {
      numbers.push_back({each->first, are_sent ? 1U : 0U, each->second});
    }
  };
  take(sent_.all(), channel ^ kLogged, true);
  take(received_.all(), channel, false);
  return numbers;
}

void MessageLog::set_numbers_of(std::uint64_t channel, std::span<const Number> numbers) {
  forbid_quick_messages();
  sent_.erase_if([&](const auto& each) { return each.first.channel == (channel ^ kLogged); });
  received_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  open_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  waited_for_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  DecisionLog::Position position = decisions_.position();
  for (const Number& each : numbers) {
    if (!take_position(each, position)) (each.is_sent != 0 ? sent_ : received_)[each.flow] = each.number;
  }
  decisions_.set_position(position);
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

void MessageLog::store_numbers(const LogJournals& journals, const Signature& signature, std::uint32_t depth) {
  write_decisions(journals);
  std::vector<Number> numbers = position_numbers(journals.held);
  for (const auto& [flow, number] : sent_.all()) numbers.push_back({flow, 1, number});
  for (const auto& [flow, number] : received_.all()) numbers.push_back({flow, 0, number});
  const auto bytes = std::as_bytes(std::span<const Number>(numbers));
  // One more than messages: a death may come before the message.
  append(journals, signature_of_numbers(signature), depth + 1, {bytes.size(), bytes});
}

void MessageLog::note_stored(const LogJournals& journals) {
  if (lacks_some()) (void)look_for_states(journals, next_look_when_stored_);
}

std::optional<std::vector<MessageLog::Number>> MessageLog::read_numbers(const Journal& journal, int slot,
                                                                        const Entry& entry) {
  std::vector<Number> numbers(entry.head.bytes / sizeof(Number));
  if (!journal.read(slot, entry, std::as_writable_bytes(std::span(numbers)))) return std::nullopt;
  return numbers;
}

void MessageLog::take_numbers(const LogJournals& journals, int own_slot, const Entry& message) {
  const Journal& journal = journals.held;
  if (message.head.number < numbers_from_) return;
  for (const Entry& each : journal.messages_of(own_slot, signature_of_numbers(message.head.signature))) {
    if (each.head.number + 1 != message.head.number) continue;
    const auto numbers = read_numbers(journal, own_slot, each);
    if (!numbers) throw Error(FENIX_ERROR_NODATA_FOUND, "the numbers of messages are damaged");
    forbid_quick_messages();
    sent_.clear();
    received_.clear();
    DecisionLog::Position position;
    for (const Number& number : *numbers) {
      if (!take_position(number, position)) (number.is_sent != 0 ? sent_ : received_)[number.flow] = number.number;
    }
    decisions_.set_position(position);
    numbers_from_ = message.head.number;
    return;
  }
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
      if (flow.channel == kPositions) continue;
      const Signature sent{flow.channel ^ kLogged, receiver, flow.tag};
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
  const auto is_position = [](const Number& each) { return each.flow.channel == kPositions; };
  auto own = stable_numbers(journals.held, own_slot, is_position);
  return {own[{kPositions, own_slot, 0}], own[{kPositions, own_slot, 1}]};
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
