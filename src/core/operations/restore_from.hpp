// SPDX-License-Identifier: BSD-3-Clause
// Restoring what another rank has stored, or a rank that is no more: every rank says what it has, and each fetches what it wants.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/member/selection.hpp"
#include "core/state/archive.hpp"
#include "core/state/fetching.hpp"
#include "core/state/operation_context.hpp"
#include "core/state/stored_archive.hpp"
#include "core/steps/restore_target.hpp"

namespace fenix_impl {

class RestoreFrom {
 public:
  /// archive: what was put aside when the communicator got another size, or null.
  /// stored: a dataset that takes its place, or null.
  RestoreFrom(const OperationContext& context, const Archive* archive, StoredArchive* stored)
      : context_(context), archive_(archive), stored_(stored) {}

  /// Collective. source: the rank that has stored, which need not be the same for all. All ranks get to know what check throws.
  Found run(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
            const std::function<void()>& check);

 private:
  /// The snapshot, and where its data is.
  struct Where {
    bool archived = false;
    Epoch epoch;
    std::map<int, Holdings> holdings;  ///< by rank
  };

  Where agree(std::int32_t member_id, const SnapshotChoice& choice, const std::function<void()>& check);
  Fetched fetch(std::int32_t member_id, int source, Where& where);
  [[nodiscard]] std::map<int, Holdings> all_archived_holdings(std::int32_t member_id, Epoch epoch);
  [[nodiscard]] std::map<int, Holdings> holdings_about(int rank) const;
  [[nodiscard]] Holdings own_holdings(const Member* member, Epoch epoch) const;

  const OperationContext& context_;
  const Archive* archive_;
  StoredArchive* stored_;
};

}  // namespace fenix_impl
