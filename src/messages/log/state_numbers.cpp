// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/state_numbers.hpp"

#include <limits>
#include <map>

#include "base/error.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/stable_numbers.hpp"

namespace fenix_impl {

std::vector<FlowNumber> StateNumbers::of_channel(const LogJournals& journals, std::uint64_t channel) const {
  std::vector<FlowNumber> numbers = numbers_of_position(decisions_.position(), journals.held.slot());
  const auto take = [&](const std::map<Flow, std::uint64_t>& all, std::uint64_t of_channel, bool are_sent) {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    auto each = all.lower_bound({of_channel, kLeast, kLeast});
    for (; each != all.end() && each->first.channel == of_channel; ++each) {
      numbers.push_back({each->first, are_sent ? 1U : 0U, each->second});
    }
  };
  take(flows_.all_sent(), channel ^ log_entry::kLogged, true);
  take(flows_.all_received(), channel, false);
  return numbers;
}

void StateNumbers::set_channel(std::uint64_t channel, std::span<const FlowNumber> numbers) {
  forbid_quick_messages();
  flows_.forget_channel(channel);
  set(numbers, decisions_.position());
}

// position: counts if the numbers have none.
void StateNumbers::set(std::span<const FlowNumber> numbers, DecisionLog::Position position) {
  for (const FlowNumber& each : numbers) {
    if (!take_position(each, position)) flows_.set(each);
  }
  decisions_.set_position(position);
}

void StateNumbers::store(const LogJournals& journals, const Signature& signature, std::uint32_t depth) {
  writer_.write_decisions(journals);
  std::vector<FlowNumber> numbers = numbers_of_position(decisions_.position(), journals.held.slot());
  for (const auto& [flow, number] : flows_.all_sent()) numbers.push_back({flow, 1, number});
  for (const auto& [flow, number] : flows_.all_received()) numbers.push_back({flow, 0, number});
  const auto bytes = std::as_bytes(std::span<const FlowNumber>(numbers));
  // One more than messages: a death may come before the message.
  writer_.append(journals, signature_of_numbers(signature), depth + 1, {bytes.size(), bytes});
}

void StateNumbers::take(const LogJournals& journals, int own_slot, const Entry& message) {
  const Journal& journal = journals.held;
  if (message.head.number < from_) return;
  for (const Entry& each : journal.reader().messages_of(own_slot, signature_of_numbers(message.head.signature))) {
    if (each.head.number + 1 != message.head.number) continue;
    const auto numbers = read_numbers(journal, own_slot, each);
    if (!numbers) throw Error(FENIX_ERROR_NODATA_FOUND, "the numbers of messages are damaged");
    forbid_quick_messages();
    flows_.forget_numbers();
    set(*numbers, {});
    from_ = message.head.number;
    return;
  }
}

}  // namespace fenix_impl
