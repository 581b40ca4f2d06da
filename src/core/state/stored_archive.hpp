// SPDX-License-Identifier: BSD-3-Clause
// A dataset of the store from which a group of another number of ranks goes on: all ranks can read it, by the numbers that the ranks had
// then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/types.hpp"
#include "core/member/member.hpp"
#include "core/state/fetching.hpp"
#include "keeper/client/client.hpp"
#include "rma/team.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

class StoredArchive {
 public:
  StoredArchive(std::shared_ptr<KeeperClient> keeper, DatasetPlan plan)
      : keeper_(std::move(keeper)), plan_(std::move(plan)), epoch_{plan_.epoch} {}

  [[nodiscard]] int ranks() const { return static_cast<int>(plan_.writers.size()); }
  /// Returns its one snapshot.
  [[nodiscard]] std::span<const Epoch> epochs() const { return {&epoch_, 1}; }
  [[nodiscard]] const DatasetPlan& plan() const { return plan_; }
  /// Reads what a rank has stored. Returns nullopt if there is nothing, or it is damaged. Local; throws as Team::check does, and
  /// Error(FENIX_ERROR_STORE).
  [[nodiscard]] std::optional<Fetched> fetch(std::int32_t member_id, int stored_by, Team& team);

 private:
  std::shared_ptr<KeeperClient> keeper_;
  DatasetPlan plan_;
  Epoch epoch_;
};

/// A member's data of a rank in a dataset of the store.
struct StoredData {
  DatasetName dataset;
  std::int32_t rank = 0;
  std::int32_t member = 0;
};

/// Reads data of a member into memory. region: the shared memory that has it; if it has not, the data goes through shared memory made here. Returns false if
/// it is damaged. Local; throws as StoredArchive::fetch().
[[nodiscard]] bool read_stored(KeeperClient& keeper, const StoredData& from, std::span<std::byte> to,
                               const Region& region, Team& team);

}  // namespace fenix_impl
