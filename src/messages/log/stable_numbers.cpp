// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/stable_numbers.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "messages/log/log_entries.hpp"

namespace fenix_impl {

Signature signature_of_numbers(const Signature& signature) {
  return {signature.comm_id ^ log_entry::kNumbers, signature.destination, signature.tag};
}

std::optional<std::vector<FlowNumber>> read_numbers(const Journal& journal, int slot, const Entry& entry) {
  std::vector<FlowNumber> numbers(entry.head.bytes / sizeof(FlowNumber));
  if (!journal.reader().read(slot, entry, std::as_writable_bytes(std::span(numbers)))) return std::nullopt;
  return numbers;
}

std::map<Flow, std::uint64_t> stable_numbers(const Journal& journal, int owner,
                                             const std::function<bool(const FlowNumber&)>& wanted) {
  // The owner may be storing meanwhile: one reading of its journal has to do.
  std::map<Signature, std::map<std::uint64_t, Entry>> to_itself;
  for (const Entry& each : journal.reader().messages_of(owner)) {
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
    for (const FlowNumber& number : *stored) {
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

std::vector<FlowNumber> numbers_of_position(const DeterminantLog::Position& position, int slot) {
  return {{{log_entry::kPositions, slot, 0}, 0, position.outcomes},
          {{log_entry::kPositions, slot, 1}, 0, position.receives}};
}

bool take_position(const FlowNumber& number, DeterminantLog::Position& position) {
  if (number.flow.comm_id != log_entry::kPositions) return false;
  (number.flow.tag == 0 ? position.outcomes : position.receives) = number.number;
  return true;
}

DeterminantLog::Position begin_of_determinants(const Journal& held) {
  const int own_slot = held.slot();
  const auto is_position = [](const FlowNumber& each) { return each.flow.comm_id == log_entry::kPositions; };
  auto own = stable_numbers(held, own_slot, is_position);
  return {own[{log_entry::kPositions, own_slot, 0}], own[{log_entry::kPositions, own_slot, 1}]};
}

}  // namespace fenix_impl
