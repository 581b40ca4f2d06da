// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/state_numbers.hpp"

#include <limits>
#include <map>

#include "base/error.hpp"
#include "messages/log/log_entries.hpp"
#include "messages/log/stable_numbers.hpp"

namespace fenix_impl {

std::vector<FlowNumber> StateNumbers::numbers_of(const LogJournals& journals, std::uint64_t comm_id) const {
  std::vector<FlowNumber> numbers = numbers_of_position(determinants_.position(), journals.held.slot());
  const auto take = [&](const std::map<Flow, std::uint64_t>& all, std::uint64_t of, bool are_sent) {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    auto each = all.lower_bound({of, kLeast, kLeast});
    for (; each != all.end() && each->first.comm_id == of; ++each) {
      numbers.push_back({each->first, are_sent ? 1U : 0U, each->second});
    }
  };
  take(flows_.all_sent(), comm_id ^ log_entry::kLogged, true);
  take(flows_.all_received(), comm_id, false);
  return numbers;
}

void StateNumbers::set_numbers_of(std::uint64_t comm_id, std::span<const FlowNumber> numbers) {
  close_fast_path();
  flows_.forget_comm(comm_id);
  set(numbers, determinants_.position());
}

// position: counts if the numbers have none.
void StateNumbers::set(std::span<const FlowNumber> numbers, DeterminantLog::Position position) {
  for (const FlowNumber& each : numbers) {
    if (!take_position(each, position)) flows_.set(each);
  }
  determinants_.set_position(position);
}

void StateNumbers::store(const LogJournals& journals, const Signature& signature, std::uint32_t depth) {
  writer_.write_determinants(journals);
  std::vector<FlowNumber> numbers = numbers_of_position(determinants_.position(), journals.held.slot());
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
    close_fast_path();
    flows_.forget_numbers();
    set(*numbers, {});
    from_ = message.head.number;
    return;
  }
}

}  // namespace fenix_impl
