// SPDX-License-Identifier: BSD-3-Clause
// The snapshots that all ranks have, computed from the reports of the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "core/log/record_log.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// The report of a rank about one record. Sent to other ranks.
struct CommittedEpoch {
  Epoch epoch;
  Epoch oldest_kept;          ///< as in the record
  std::uint32_t entry = 0;    ///< in the log
  std::uint32_t deleted = 0;  ///< 1 if the snapshot has been deleted

  bool operator==(const CommittedEpoch&) const = default;
};

/// The commits of one rank, oldest first; nullopt if they cannot be found out any more.
using CommittedEpochs = std::optional<std::vector<CommittedEpoch>>;

/// Reads the epochs of a group and an owner from a log, oldest first.
[[nodiscard]] std::vector<CommittedEpoch> epochs_in(const RecordLog& log, std::int32_t group_id, int owner);

/// Takes in the records of a rank that another rank holds.
void add(CommittedEpochs& epochs, const std::vector<CommittedEpoch>& more);

struct ConsistentEpochs {
  Epoch newest;               ///< latest commit of all ranks, deleted or not; none if there is none
  std::vector<Epoch> epochs;  ///< snapshots that all ranks have and still keep, oldest first

  bool operator==(const ConsistentEpochs&) const = default;
};

/// The commits that some ranks have in common.
class CommonEpochs {
 public:
  /// Makes the neutral element of merging: it contains no rank.
  CommonEpochs() = default;
  explicit CommonEpochs(const CommittedEpochs& of_rank);

  /// Whether the commits of some rank cannot be found out. The result then is about the other ranks.
  [[nodiscard]] bool some_unknown() const { return some_unknown_; }
  /// Whether some rank has no commit.
  [[nodiscard]] bool some_had_none() const { return some_had_none_; }
  /// Returns the consistent snapshots of the ranks whose commits are known. A rank reuses the space of an epoch when
  /// all ranks have committed a later one by which it is too old (Record::oldest_kept). Snapshots older than the newest
  /// common commit allows are therefore not to be trusted, even if their records are still there.
  [[nodiscard]] ConsistentEpochs consistent() const;

  /// Takes in other ranks. Ranks that are in it already change nothing.
  void merge(const CommonEpochs& other);

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Throws Error(FENIX_ERROR_INTERN) for bytes that encode() cannot have written.
  [[nodiscard]] static CommonEpochs decode(std::span<const std::byte> bytes);

 private:
  bool some_unknown_ = false;
  bool some_had_none_ = false;
  CommittedEpochs common_;  // with the strictest values that any rank reports; nullopt: contains no rank
};

/// Merges what each rank brings. Collective over the team. Bytes grow with the logarithm of the ranks.
[[nodiscard]] CommonEpochs common_to_all(Team& team, const CommonEpochs& mine);

}  // namespace fenix_impl
