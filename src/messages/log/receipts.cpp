// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/receipts.hpp"

namespace fenix_impl {

bool Receipts::has(const Flow& flow, std::uint64_t number) const {
  const auto found = numbers_.find(flow);
  if (found == numbers_.end() || number > found->second) return false;
  const auto without = open_.find(flow);
  return without == open_.end() || without->second.count(number) == 0;
}

std::uint64_t Receipts::all_until(const Flow& flow) const {
  const auto found = numbers_.find(flow);
  if (found == numbers_.end()) return 0;
  const auto without = open_.find(flow);
  return without == open_.end() || without->second.empty() ? found->second : *without->second.begin() - 1;
}

}  // namespace fenix_impl
