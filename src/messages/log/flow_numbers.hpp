// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the messages of this rank, by flow: those that it has sent, and the receives that have begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "interposition/message_counters.hpp"
#include "messages/log/flow.hpp"

namespace fenix_impl {

/// A flow's number of messages.
struct FlowNumber {
  Flow flow;
  std::uint64_t is_sent = 0;  ///< else received
  std::uint64_t number = 0;

  bool operator==(const FlowNumber&) const = default;
};

/// All functions are local. Flows of messages that were sent have the number of the log; those of receives have that of the communicator.
class FlowNumbers {
 public:
  /// Returns the counter of the messages that were sent, and makes one if there is none.
  [[nodiscard]] std::uint64_t& sent(const Flow& logged) { return sent_[logged]; }
  /// Returns the counter of the messages that were sent, or null. It is valid until the fast path is closed.
  [[nodiscard]] std::uint64_t* find_sent(const Flow& logged) { return sent_.find(logged); }
  /// Returns the number of the latest message that was sent, or 0.
  [[nodiscard]] std::uint64_t latest_sent(const Flow& logged) const { return value_of(sent_, logged); }
  [[nodiscard]] const std::map<Flow, std::uint64_t>& all_sent() const { return sent_.all(); }

  /// Begins a receive. Returns the number of its message. Receives of a flow get their messages in the order of these calls.
  [[nodiscard]] std::uint64_t begin_receive(const Flow& flow);
  /// Notes that a receive has its message.
  void end_receive(const Flow& flow, std::uint64_t number);
  /// Takes back the latest number of a flow: the call is cancelled, or will be made again.
  void take_back(const Flow& flow, bool is_sent);
  /// Returns the counter of the receives that have begun, and makes one if there is none.
  [[nodiscard]] std::uint64_t& received(const Flow& flow);
  /// Returns the counters of the receives of a flow for libfenix_mpi. cancellable: as in FastReceive.
  [[nodiscard]] FastReceive lend_receives(const Flow& flow, std::uint64_t* cancellable);
  /// Returns the number of the latest receive that has begun, or 0.
  [[nodiscard]] std::uint64_t latest_received(const Flow& flow) const { return value_of(received_, flow); }
  [[nodiscard]] const std::map<Flow, std::uint64_t>& all_received() const { return received_.all(); }
  /// Calls see for each receive that has no message yet.
  template <class See>
  void for_each_open(const See& see) const {
    for (const auto& [flow, numbers] : open_.all()) {
      for (const std::uint64_t number : numbers) see(flow, number);
    }
    for (const auto& [flow, number] : waited_for_.all()) {
      if (number != 0) see(flow, number);
    }
  }

  /// Whether nothing has been sent, and no receive has begun.
  [[nodiscard]] bool are_new() const { return sent_.all().empty() && received_.all().empty(); }
  void set(const FlowNumber& number) { (number.is_sent != 0 ? sent_ : received_)[number.flow] = number.number; }
  /// Forgets the numbers, and the receives without messages, of a communicator.
  void forget_comm(std::uint64_t comm_id);
  /// Forgets the receives that have no message yet.
  void forget_open();
  /// Forgets all numbers, but not the receives that have no message yet.
  void forget_numbers();

 private:
  static constexpr std::size_t kLeastFlows = 4096;

  [[nodiscard]] static std::uint64_t value_of(const ByFlow<std::uint64_t>& numbers, const Flow& flow) {
    const std::uint64_t* const found = numbers.find(flow);
    return found != nullptr ? *found : 0;
  }
  void forget_quiet_flows();

  ByFlow<std::uint64_t> sent_;            // messages of this rank, skipped ones included
  ByFlow<std::uint64_t> received_;        // receives that have begun
  ByFlow<OpenNumbers> open_;              // those of them that have no message yet
  ByFlow<std::uint64_t> waited_for_;      // one more of them: that for which the program waits, or 0
  std::size_t most_flows_ = kLeastFlows;  // with entries in these two
};

}  // namespace fenix_impl
