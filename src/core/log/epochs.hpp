// SPDX-License-Identifier: BSD-3-Clause
// Which snapshots all ranks have: made of what the ranks report.
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

/// What a rank says of a record. Sent to other ranks.
struct CommittedEpoch {
  Epoch epoch;
  Epoch oldest_kept;          ///< as in the record
  std::uint32_t entry = 0;    ///< in the log
  std::uint32_t deleted = 0;  ///< 1 if the snapshot has been deleted

  bool operator==(const CommittedEpoch&) const = default;
};

/// What one rank committed, oldest first; nullopt if that cannot be found out any more.
using CommittedEpochs = std::optional<std::vector<CommittedEpoch>>;

/// Reads the epochs of a group and an owner from a log, oldest first.
[[nodiscard]] std::vector<CommittedEpoch> epochs_in(const RecordLog& log, std::int32_t group_id, int owner);

/// Takes in what another rank has of the records of that one.
void add(CommittedEpochs& epochs, const std::vector<CommittedEpoch>& more);

struct ConsistentEpochs {
  Epoch newest;               ///< that all ranks have committed, deleted or not; none if there is none
  std::vector<Epoch> epochs;  ///< that all ranks have and still keep, oldest first

  bool operator==(const ConsistentEpochs&) const = default;
};

/// What some ranks have committed, all of them.
class CommonEpochs {
 public:
  /// Of no rank: merged with others, it changes nothing.
  CommonEpochs() = default;
  explicit CommonEpochs(const CommittedEpochs& of_rank);

  /// Whether the commits of some rank cannot be found out; then the others' are told here.
  [[nodiscard]] bool some_unknown() const { return some_unknown_; }
  /// Whether some rank has none.
  [[nodiscard]] bool some_had_none() const { return some_had_none_; }
  /// Of the ranks of which they are known. A rank reuses the space of an epoch only when all ranks have committed one by which
  /// it is too old (Record::oldest_kept): so what is older than the newest common one allows is not to be trusted, though its
  /// record is still there.
  [[nodiscard]] ConsistentEpochs consistent() const;

  /// Takes in other ranks, or the same once more.
  void merge(const CommonEpochs& other);

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Throws Error(FENIX_ERROR_INTERN) for bytes that encode() cannot have written.
  [[nodiscard]] static CommonEpochs decode(std::span<const std::byte> bytes);

 private:
  bool some_unknown_ = false;
  bool some_had_none_ = false;
  CommittedEpochs common_;  // with what any rank says of them; nullopt: of no rank
};

/// Collective over the team: what each rank brings, merged. Bytes grow with the logarithm of the ranks.
[[nodiscard]] CommonEpochs common_to_all(Team& team, const CommonEpochs& mine);

}  // namespace fenix_impl
