// SPDX-License-Identifier: BSD-3-Clause
// Messages that other ranks have received from this one, as they have told it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "messages/log/flow.hpp"

namespace fenix_impl {

/// By flow, with the number of the log.
class Receipts {
 public:
  /// Notes the number of the latest receive that has begun.
  void add(const Flow& flow, std::uint64_t number) { numbers_[flow] = number; }
  /// Notes a receive that has no message yet.
  void add_open(const Flow& flow, std::uint64_t number) { open_[flow].insert(number); }

  [[nodiscard]] bool has(const Flow& flow, std::uint64_t number) const;
  /// Returns the number up to which it has all.
  [[nodiscard]] std::uint64_t all_until(const Flow& flow) const;
  /// Whether the receive of a message, or of a later one, has begun.
  [[nodiscard]] bool have_begun(const Flow& flow, std::uint64_t number) const {
    const auto found = numbers_.find(flow);
    return found != numbers_.end() && found->second >= number;
  }
  /// Returns the numbers of the latest receives that have begun.
  [[nodiscard]] const std::map<Flow, std::uint64_t>& numbers() const { return numbers_; }

 private:
  std::map<Flow, std::uint64_t> numbers_;         // of receives that have begun
  std::map<Flow, std::set<std::uint64_t>> open_;  // those of them that have no message yet
};

}  // namespace fenix_impl
