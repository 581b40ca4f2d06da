// SPDX-License-Identifier: BSD-3-Clause
// Numbers of messages, as states are stored with them.
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/message_log.hpp"

namespace fenix_impl {

Signature MessageLog::signature_of_numbers(const Signature& signature) {
  return {signature.channel ^ log_entry::kNumbers, signature.destination, signature.tag};
}

std::vector<MessageLog::Number> MessageLog::position_numbers(const Journal& journal) const {
  const DecisionLog::Position& position = decisions_.position();
  return {{{log_entry::kPositions, journal.slot(), 0}, 0, position.outcomes},
          {{log_entry::kPositions, journal.slot(), 1}, 0, position.receives}};
}

bool MessageLog::take_position(const Number& number, DecisionLog::Position& position) {
  if (number.flow.channel != log_entry::kPositions) return false;
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
  take(sent_.all(), channel ^ log_entry::kLogged, true);
  take(received_.all(), channel, false);
  return numbers;
}

void MessageLog::set_numbers_of(std::uint64_t channel, std::span<const Number> numbers) {
  forbid_quick_messages();
  sent_.erase_if([&](const auto& each) { return each.first.channel == (channel ^ log_entry::kLogged); });
  received_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  open_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  waited_for_.erase_if([&](const auto& each) { return each.first.channel == channel; });
  DecisionLog::Position position = decisions_.position();
  for (const Number& each : numbers) {
    if (!take_position(each, position)) (each.is_sent != 0 ? sent_ : received_)[each.flow] = each.number;
  }
  decisions_.set_position(position);
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

}  // namespace fenix_impl
