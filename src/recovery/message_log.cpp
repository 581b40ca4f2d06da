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

namespace fenix_impl {
namespace {

constexpr std::uint64_t kLogged = 0x6C6F67676564U;       // in channels of logged messages
constexpr std::uint64_t kNumbers = 0x6E756D62657273U;    // in channels of stored numbers
constexpr std::uint64_t kPositions = 0x706F736974696FU;  // of stored numbers that are places in the stream of decisions
// Depths from this one on are those of logged messages: all are kept. The other bits tell in which order they were sent.
constexpr std::uint32_t kLeastDepth = 1U << 31U;

bool is_logged(const EntryHead& head) { return head.depth >= kLeastDepth; }

/// Whether a message was sent before another one of the same sender. Their orders begin anew after 2^31.
bool is_earlier(const EntryHead& one, const EntryHead& other) {
  return static_cast<std::int32_t>((one.depth - other.depth) << 1U) < 0;
}

}  // namespace

Signature MessageLog::signature_of_numbers(const Signature& signature) {
  return {signature.channel ^ kNumbers, signature.destination, signature.tag};
}

void MessageLog::take_up(Team& team, const Journal& journal, bool goes_back) {
  struct Numbered {
    Flow flow;
    std::int32_t slot = 0;  ///< of the rank that has logged the messages, or received them
    enum Kind : std::int32_t { logged, received, open } kind = logged;
    std::uint64_t number = 0;
  };
  const int own_slot = journal.slot();
  logged_.clear();
  std::optional<EntryHead> latest;
  for (const Entry& each : journal.messages_of(own_slot)) {
    if (!is_logged(each.head)) continue;
    if (!latest || is_earlier(*latest, each.head)) latest = each.head;
    const Signature& signature = each.head.signature;
    std::uint64_t& number = logged_[{signature.channel, signature.destination, signature.tag}];
    number = std::max(number, each.head.number);
  }
  if (latest) next_order_ = latest->depth + 1;
  decisions_.take_up(journal);
  std::vector<Numbered> mine;
  for (const auto& [flow, number] : logged_) mine.push_back({flow, own_slot, Numbered::logged, number});
  if (goes_back) open_.clear();
  for (const auto& [flow, number] : received_) {
    if (!goes_back) mine.push_back({flow, own_slot, Numbered::received, number});
  }
  for (const auto& [flow, numbers] : open_) {
    for (const std::uint64_t number : numbers) mine.push_back({flow, own_slot, Numbered::open, number});
  }
  logged_by_others_.clear();
  received_by_others_.clear();
  open_at_others_.clear();
  found_.clear();
  for (const auto& of_rank : team.gather_lists(std::span<const Numbered>(mine))) {
    for (const Numbered& each : of_rank) {
      if (each.flow.peer != own_slot) continue;
      const bool is_logged = each.kind == Numbered::logged;
      const Flow flow{is_logged ? each.flow.channel : each.flow.channel ^ kLogged, each.slot, each.flow.tag};
      if (each.kind == Numbered::open) {
        open_at_others_[flow].insert(each.number);
      } else {
        (is_logged ? logged_by_others_ : received_by_others_)[flow] = each.number;
      }
    }
  }
}

bool MessageLog::log_send(Journal& journal, const Flow& of, const Payload& payload) {
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
  std::uint64_t& sent = sent_[flow];
  const auto is_among = [&](const std::map<Flow, std::uint64_t>& numbers) {
    const auto found = numbers.find(flow);
    return found != numbers.end() && sent < found->second;
  };
  const bool is_logged = is_among(logged_);
  // The log of a dead rank may be lost, if all ranks that had it have died. Its receivers know what they have.
  const auto open = open_at_others_.find(flow);
  const bool is_open = open != open_at_others_.end() && open->second.count(sent + 1) > 0;
  const bool is_again = is_logged || (is_among(received_by_others_) && !is_open);
  write_decisions(journal);
  if (!is_logged) {
    append(journal, signature_of(flow), kLeastDepth | next_order_, payload, sent + 1);
    ++next_order_;
  }
  ++sent;
  fault_point("replay.logged");
  return !is_again;
}

void MessageLog::write_decisions(Journal& journal) {
  decisions_.write(journal, [&](const Signature& signature, std::uint32_t depth, const Payload& payload,
                                std::uint64_t number) { append(journal, signature, depth, payload, number); });
}

// If there is no room, receivers may be about to store a state with which they need less of the log.
void MessageLog::append(Journal& journal, const Signature& signature, std::uint32_t depth, const Payload& payload,
                        std::optional<std::uint64_t> number) {
  constexpr std::chrono::seconds kPatience{2};
  const Deadline deadline(kPatience);
  for (const Backoff backoff;; backoff.pause()) {
    try {
      journal.append(signature, depth, payload, number.value_or(journal.latest_number() + 1));
      return;
    } catch (const Error& error) {
      if (error.code() != FENIX_ERROR_NO_MEMORY || deadline.passed()) throw;
    }
    release_what_is_stable(journal);
  }
}

std::optional<Entry> MessageLog::logged(const Journal& journal, const Flow& of, std::uint64_t number, bool anew) {
  const Flow flow{of.channel ^ kLogged, of.peer, of.tag};
  const auto logged = logged_by_others_.find(flow);
  if (logged == logged_by_others_.end()) return std::nullopt;
  if (number > logged->second) return std::nullopt;
  std::vector<Entry>& found = found_[flow];
  for (const bool again : {false, true}) {
    if (again || anew) found = journal.messages_of(flow.peer, {flow.channel, journal.slot(), flow.tag});
    const auto entry =
        std::find_if(found.begin(), found.end(), [number](const Entry& each) { return each.head.number == number; });
    if (entry != found.end()) return *entry;
  }
  throw Error(FENIX_ERROR_NODATA_FOUND,
              "message " + std::to_string(number) + " with tag " + std::to_string(flow.tag) + " is in no log any more");
}

std::optional<std::pair<MessageLog::Flow, Entry>> MessageLog::find_unreceived(const Journal& journal,
                                                                              std::uint64_t channel,
                                                                              std::optional<int> peer,
                                                                              std::optional<int> tag) {
  std::optional<std::pair<Flow, Entry>> first;
  for (const auto& [logged, number] : logged_by_others_) {
    const Flow flow{logged.channel ^ kLogged, logged.peer, logged.tag};
    const bool suits = flow.channel == channel && (!peer || flow.peer == *peer) &&
                       (tag ? flow.tag == *tag : flow.tag < kFirstInternalTag);
    if (!suits || (first && first->first.peer != flow.peer)) continue;
    const auto received = received_.find(flow);
    const std::uint64_t next = received != received_.end() ? received->second + 1 : 1;
    const auto entry = this->logged(journal, flow, next, /*anew=*/false);
    if (entry && (!first || is_earlier(entry->head, first->second.head))) first = {flow, *entry};
  }
  return first;
}

std::uint64_t MessageLog::begin_receive(const Flow& flow) {
  const std::uint64_t number = ++received_[flow];
  open_[flow].insert(number);
  return number;
}

void MessageLog::end_receive(const Flow& flow, std::uint64_t number) { open_[flow].erase(number); }

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

std::vector<MessageLog::Number> MessageLog::numbers_of(const Journal& journal, std::uint64_t channel) const {
  std::vector<Number> numbers = position_numbers(journal);
  const auto take = [&](const std::map<Flow, std::uint64_t>& all, std::uint64_t of_channel, bool are_sent) {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    auto each = all.lower_bound({of_channel, kLeast, kLeast});
    for (; each != all.end() && each->first.channel == of_channel; ++each) {
      numbers.push_back({each->first, are_sent ? 1U : 0U, each->second});
    }
  };
  take(sent_, channel ^ kLogged, true);
  take(received_, channel, false);
  return numbers;
}

void MessageLog::set_numbers_of(std::uint64_t channel, std::span<const Number> numbers) {
  std::erase_if(sent_, [&](const auto& each) { return each.first.channel == (channel ^ kLogged); });
  std::erase_if(received_, [&](const auto& each) { return each.first.channel == channel; });
  std::erase_if(open_, [&](const auto& each) { return each.first.channel == channel; });
  DecisionLog::Position position = decisions_.position();
  for (const Number& each : numbers) {
    if (!take_position(each, position)) (each.is_sent != 0 ? sent_ : received_)[each.flow] = each.number;
  }
  decisions_.set_position(position);
}

void MessageLog::release_until(Journal& journal, std::span<const Number> numbers) {
  DecisionLog::Position position;
  for (const Number& each : numbers) {
    if (!take_position(each, position) && each.is_sent != 0)
      journal.release_until(signature_of(each.flow), each.number);
  }
  decisions_.release(journal, position);
}

void MessageLog::store_numbers(Journal& journal, const Signature& signature, std::uint32_t depth) {
  write_decisions(journal);
  std::vector<Number> numbers = position_numbers(journal);
  for (const auto& [flow, number] : sent_) numbers.push_back({flow, 1, number});
  for (const auto& [flow, number] : received_) numbers.push_back({flow, 0, number});
  const auto bytes = std::as_bytes(std::span<const Number>(numbers));
  // One more than messages: a death may come before the message.
  append(journal, signature_of_numbers(signature), depth + 1, {bytes.size(), bytes});
}

std::optional<std::vector<MessageLog::Number>> MessageLog::read_numbers(const Journal& journal, int slot,
                                                                        const Entry& entry) {
  std::vector<Number> numbers(entry.head.bytes / sizeof(Number));
  if (!journal.read(slot, entry, std::as_writable_bytes(std::span(numbers)))) return std::nullopt;
  return numbers;
}

void MessageLog::take_numbers(const Journal& journal, int own_slot, const Entry& message) {
  if (message.head.number < numbers_from_) return;
  for (const Entry& each : journal.messages_of(own_slot, signature_of_numbers(message.head.signature))) {
    if (each.head.number + 1 != message.head.number) continue;
    const auto numbers = read_numbers(journal, own_slot, each);
    if (!numbers) throw Error(FENIX_ERROR_NODATA_FOUND, "the numbers of messages are damaged");
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
void MessageLog::release_what_is_stable(Journal& journal) {
  // A journal that was taken back has messages that its owner had let go of: those of all receivers count.
  std::set<int> receivers;
  for (const Entry& each : journal.messages_of(journal.slot())) {
    if (is_logged(each.head)) receivers.insert(each.head.signature.destination);
  }
  for (const int receiver : receivers) {
    for (const auto& [flow, number] : stable_numbers(journal, receiver)) {
      if (flow.channel != kPositions) journal.release_until({flow.channel ^ kLogged, receiver, flow.tag}, number);
    }
  }
  // The same holds for its own decisions.
  auto own = stable_numbers(journal, journal.slot());
  decisions_.release(journal, {own[{kPositions, journal.slot(), 0}], own[{kPositions, journal.slot(), 1}]});
}

std::map<MessageLog::Flow, std::uint64_t> MessageLog::stable_numbers(const Journal& journal, int receiver) const {
  // The receiver may be storing meanwhile: one reading of its journal has to do.
  std::map<Signature, std::map<std::uint64_t, Entry>> to_itself;
  for (const Entry& each : journal.messages_of(receiver)) {
    const bool is_for_itself = each.head.signature.destination == receiver && !is_logged(each.head);
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
    const auto stored = read_numbers(journal, receiver, numbers_of->second.at(oldest->first - 1));
    // The receiver has stored another state meanwhile: it is for the next look.
    if (!stored) return {};
    std::map<Flow, std::uint64_t> numbers;
    for (const Number& number : *stored) {
      if (number.is_sent == 0 && number.flow.peer == journal.slot()) numbers[number.flow] = number.number;
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
