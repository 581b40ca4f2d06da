// SPDX-License-Identifier: BSD-3-Clause
// The part of a recovery line that a rank stores beside its data: counts of messages at its checkpoint, and its log (Bronevetsky et al., 3.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/flow.hpp"
#include "checkpoint/trace.hpp"

namespace fenix_impl {

/// A message that was sent before the checkpoint of its sender, and received after that of its receiver.
struct LateMessage {
  MessageFlow flow;
  std::uint64_t number = 0;
  std::vector<std::byte> bytes;
};

struct LineRecord {
  std::int32_t ranks = 0;      ///< of the job
  bool is_whole = true;        ///< the log had room for all
  std::uint64_t receives = 0;  ///< that had begun: numbers of determinants count from here on
  std::vector<FlowCount> sent;
  std::vector<FlowCount> received;
  std::vector<LateMessage> late;  ///< in the order in which they came
  Trace trace;

  /// Returns nothing if it takes up more bytes than that.
  [[nodiscard]] std::optional<std::vector<std::byte>> encode(std::size_t most) const;
  /// Throws Error(FENIX_ERROR_NODATA_FOUND) if it cannot be a record.
  [[nodiscard]] static LineRecord decode(std::span<const std::byte> bytes);
};

}  // namespace fenix_impl
