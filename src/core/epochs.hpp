// SPDX-License-Identifier: BSD-3-Clause
// Which snapshots all ranks have: pure functions over what the ranks report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.hpp"

namespace fenix_impl {

/// What a rank says of a record. Sent to other ranks.
struct CommittedEpoch {
  Epoch epoch;
  Epoch oldest_kept;          ///< as in the record
  std::uint32_t place = 0;    ///< in the log
  std::uint32_t deleted = 0;  ///< 1 if the snapshot has been deleted

  bool operator==(const CommittedEpoch&) const = default;
};

/// What one rank committed, oldest first; nullopt if that cannot be found out any more.
using CommittedEpochs = std::optional<std::vector<CommittedEpoch>>;

struct ConsistentEpochs {
  Epoch newest;               ///< that all ranks have committed, deleted or not; none if there is none
  std::vector<Epoch> epochs;  ///< that all ranks have and still keep, oldest first

  bool operator==(const ConsistentEpochs&) const = default;
};

/// A rank reuses the space of an epoch only when all ranks have committed one by which it is too old (Record::oldest_kept):
/// so what is older than the newest common one allows is not to be trusted, though its record is still there.
[[nodiscard]] ConsistentEpochs consistent_epochs(const std::vector<CommittedEpochs>& ranks);

}  // namespace fenix_impl
