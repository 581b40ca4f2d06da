// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/sender_log.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "messages/log/log_entries.hpp"

namespace fenix_impl {

bool SenderLog::has(const Flow& flow, std::uint64_t number) const {
  const IntervalSet* const logged = logged_.find(flow);
  return logged != nullptr && has_logged(*logged, number);
}

bool SenderLog::is_to_be_sent(const Flow& of) const {
  const Flow flow = logged_flow(of);
  const std::uint64_t number = flows_.latest_sent(flow) + 1;
  // The log of a dead rank may be lost. Its receivers know what they have.
  return !has(flow, number) && !peers_.received().has(flow, number);
}

std::optional<std::span<const std::byte>> SenderLog::log_send(const LogJournals& journals, const Flow& of,
                                                              const Payload& payload, Sending sending) {
  const Flow flow = logged_flow(of);
  std::uint64_t& sent = flows_.sent(flow);
  const bool is_logged = has(flow, sent + 1);
  const bool is_sent = !is_logged && !peers_.received().has(flow, sent + 1);
  writer_.write_determinants(journals);
  std::optional<std::span<const std::byte>> content;
  if (is_logged && comparing_ != Comparing::off) compare_with_log(journals, signature_of(flow), sent + 1, payload);
  if (!is_logged) content = log_message(journals, signature_of(flow), sent + 1, payload, sending);
  ++sent;
  fault_point("replay.logged");
  return is_sent ? content : std::nullopt;
}

std::optional<std::span<const std::byte>> SenderLog::log_fast(const LogJournals& journals, const FastSend& flow,
                                                              const Payload& payload) {
  if (determinants_.has_new()) return std::nullopt;
  JournalWriter& journal = journals.messages.writer();
  try {
    journal.append(flow.signature, log_entry::kLeastDepth | (next_order_ & log_entry::kOrders), payload,
                   *flow.logged + 1);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  ++next_order_;
  ++*flow.logged;
  fault_point("replay.logged");
  return journal.payload_of(journal.latest());
}

std::uint32_t SenderLog::next_depth(Sending sending) {
  const std::uint32_t order = next_order_++ & log_entry::kOrders;
  return log_entry::kLeastDepth | order | (sending == Sending::synchronous ? log_entry::kSynchronous : 0);
}

std::uint64_t SenderLog::latest_sent(const Flow& flow) const { return flows_.latest_sent(logged_flow(flow)); }

bool SenderLog::was_taken(const LogJournals& journals, const Flow& of, std::uint64_t number) const {
  if (peers_.received().have_begun(logged_flow(of), number)) return true;
  const Journal& journal = journals.messages;
  const auto noted = journal.reader().messages_of(of.peer, {of.comm_id ^ log_entry::kTaken, journal.slot(), of.tag});
  return !noted.empty() && noted.back().head.number >= number;
}

std::optional<EntryHead> SenderLog::own_logged(const LogJournals& journals, const Signature& signature,
                                               std::uint64_t number) {
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    if (const Entry* const own = journal->ring().find(signature, number); own != nullptr) return own->head;
  }
  return files_.find(signature, number);
}

// Another message than before means that the program does not do the same again: its receiver has the other history. But programs also send times, process
// numbers and memory without meaning, on which nothing depends. These cannot be told apart; another length can.
void SenderLog::compare_with_log(const LogJournals& journals, const Signature& signature, std::uint64_t number,
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

std::span<const std::byte> SenderLog::log_message(const LogJournals& journals, const Signature& signature,
                                                  std::uint64_t number, const Payload& payload, Sending sending) {
  if (writer_.put(journals.messages, journals, signature, next_depth(sending), payload, number)) {
    const JournalWriter& journal = journals.messages.writer();
    return journal.payload_of(journal.latest());
  }
  gaps_.note_missing(flow_of(signature), number);
  if (!payload.pack && payload.bytes > 0) return payload.data;
  // A message without bytes has an address, too: it is sent.
  unlogged_.reserve(1);
  unlogged_.resize(payload.bytes);
  payload.copy_to(unlogged_);
  return unlogged_;
}

FastSend SenderLog::allow_send(const Flow& of) {
  const Flow flow = logged_flow(of);
  std::uint64_t* const sent = flows_.find_sent(flow);
  // The first message of a flow makes the counter.
  if (sent == nullptr) return {};
  const std::uint64_t next = *sent + 1;
  const IntervalSet* const logged = logged_.find(flow);
  if (logged != nullptr && is_before_end(*logged, next)) return {};
  if (peers_.received().have_begun(flow, next)) return {};
  return {true, nullptr, &determinants_.has_new(), signature_of(flow), sent};
}

void SenderLog::find_logged(const LogJournals& journals) {
  std::map<Flow, std::vector<Interval>> logged;
  std::optional<EntryHead> latest;
  for (const Journal* journal : {&journals.messages, &journals.held}) {
    for (const Entry& each : journal->reader().messages_of(journals.held.slot())) {
      if (!is_logged(each.head)) continue;
      if (!latest || is_earlier(*latest, each.head)) latest = each.head;
      logged[flow_of(each.head.signature)].push_back({each.head.number, each.head.number + 1});
    }
  }
  if (latest) next_order_ = (latest->depth & log_entry::kOrders) + 1;
  if (files_.in_use()) {
    for (const auto& [signature, numbers] : files_.spill()->numbers()) {
      if (signature == DeterminantLog::signature_in(journals.held)) continue;
      for (const Interval& each : numbers.intervals()) logged[flow_of(signature)].push_back(each);
    }
  }
  logged_.clear();
  for (auto& [flow, numbers] : logged) logged_[flow] = IntervalSet::of_sorting(numbers);
  files_.forget_found();
}

void SenderLog::add_logged(int own_slot, std::vector<FlowStatement>& to) const {
  for (const auto& [flow, numbers] : logged_.all()) {
    for (const Interval& each : numbers.intervals()) {
      to.push_back({flow, own_slot, FlowStatement::logged, each.first, each.end});
    }
  }
}

bool SenderLog::has_some_ahead(const std::function<bool(int slot)>& wanted) const {
  return std::any_of(logged_.all().begin(), logged_.all().end(), [&](const auto& each) {
    return wanted(each.first.peer) && !each.second.empty() && each.second.end() - 1 > flows_.latest_sent(each.first);
  });
}

std::vector<SenderLog::Late> SenderLog::late_messages(const LogJournals& journals, std::uint64_t comm_id) const {
  std::vector<Late> late;
  if (journals.are_one()) return late;
  if (const auto flow = gaps_.find_unreceived(comm_id ^ log_entry::kLogged, peers_.received_at_checkpoint())) {
    throw Error(FENIX_ERROR_NO_MEMORY,
                "a message with tag " + std::to_string(flow->tag) +
                    " that has not been received is not in the log any more, and no state can be "
                    "stored without it: raise FENIX_MLOG_MEMORY");
  }
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  const auto& all = flows_.all_sent();
  auto each = all.lower_bound({comm_id ^ log_entry::kLogged, kLeast, kLeast});
  for (; each != all.end() && each->first.comm_id == (comm_id ^ log_entry::kLogged); ++each) {
    const auto& [flow, sent] = *each;
    for (const Entry& entry : journals.messages.reader().messages_of(journals.messages.slot(), signature_of(flow))) {
      const std::uint64_t number = entry.head.number;
      if (number > sent || peers_.received_at_checkpoint().has(flow, number)) continue;
      const auto content = journals.messages.writer().payload_of(entry);
      late.push_back({flow, number, {content.begin(), content.end()}});
    }
  }
  return late;
}

bool SenderLog::log_late(const LogJournals& journals, const Late& message) {
  const Signature signature = signature_of(message.flow);
  const auto own = journals.messages.reader().messages_of(journals.messages.slot(), signature);
  const auto has_number = [&](const Entry& each) { return each.head.number == message.number; };
  // This process has sent it, or its receiver gets it from the log.
  if (std::any_of(own.begin(), own.end(), has_number)) return false;
  if (!writer_.put(journals.messages, journals, signature, next_depth(Sending::usual),
                   {message.content.size(), message.content}, message.number)) {
    gaps_.note_missing(message.flow, message.number);
  }
  return !peers_.received().has(message.flow, message.number);
}

// Gives those in the memory as well: they may leave it before the reader comes to them.
void SenderLog::give(const LogJournals& journals, int reader, const TakeEntry& take) const {
  if (!files_.give(reader, take)) return;
  const auto give_of = [&](const Journal& journal) {
    for (const Entry& each : journal.reader().messages_of(journal.slot())) {
      if (!is_logged(each.head) || each.head.signature.destination != reader) continue;
      if (!take(each.head, journal.writer().payload_of(each))) return;
    }
  };
  give_of(journals.messages);
  if (!journals.are_one()) give_of(journals.held);
}

void SenderLog::clear() {
  comparing_ = Comparing::on;
  has_told_difference_ = false;
  next_order_ = 0;
  unlogged_ = {};
  logged_.clear();
}

}  // namespace fenix_impl
