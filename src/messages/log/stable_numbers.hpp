// SPDX-License-Identifier: BSD-3-Clause
// Numbers of messages that are stored with states, as they are in the journals of their owners. They are stable: no rank goes back behind its
// oldest state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "messages/log/determinant_log.hpp"
#include "messages/log/flow_numbers.hpp"

namespace fenix_impl {

/// Returns the signature of the numbers that are stored with messages of a signature.
[[nodiscard]] Signature signature_of_numbers(const Signature& signature);
/// Returns nothing if they have been replaced meanwhile, or are damaged in all places. slot: of their owner. Local. Throws PeerFailure.
[[nodiscard]] std::optional<std::vector<FlowNumber>> read_numbers(const Journal& journal, int slot, const Entry& entry);
/// Returns numbers with which a rank's oldest state was stored, of those that are wanted: the least, if there are several such states. Local.
/// Throws PeerFailure.
[[nodiscard]] std::map<Flow, std::uint64_t> stable_numbers(const Journal& journal, int owner,
                                                           const std::function<bool(const FlowNumber&)>& wanted);

/// Returns a place in the stream of determinants as numbers.
[[nodiscard]] std::vector<FlowNumber> numbers_of_position(const DeterminantLog::Position& position, int slot);
/// Notes such a number in a place. Returns false if it is another one.
bool take_position(const FlowNumber& number, DeterminantLog::Position& position);
/// Returns the place in the stream of determinants of the oldest state of this rank. Local. Throws PeerFailure.
[[nodiscard]] DeterminantLog::Position begin_of_determinants(const Journal& held);

}  // namespace fenix_impl
