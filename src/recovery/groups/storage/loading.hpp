// SPDX-License-Identifier: BSD-3-Clause
// A group goes on from a dataset of the store: of as many ranks as it has, as if it had never ended; of another number, such that all
// ranks can read all.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/group.hpp"
#include "keeper/client/client.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

class Loading {
 public:
  /// group: attached, without a snapshot. keeper: of this node.
  Loading(Group& group, std::shared_ptr<KeeperClient> keeper) : group_(group), keeper_(std::move(keeper)) {}

  /// Takes up a dataset, the same on all ranks. Collective. Returns false on all ranks if some rank cannot have its data. Throws as Team
  /// does.
  [[nodiscard]] bool run(const DatasetPlan& plan);
  /// Whether run() has changed the group, the same on all ranks: what it had before is gone then.
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  /// Goes on without any snapshot, when no dataset could be used. Collective.
  void begin_anew() { resume({}); }

 private:
  void archive(const DatasetPlan& plan);
  void load(const DatasetPlan& plan);
  /// Reads what this rank has stored; empty if it cannot be used.
  [[nodiscard]] Record read_own(const DatasetPlan& plan);
  void take_parameters(const DatasetPlan& plan);
  /// Makes the members that some rank has data of. Collective.
  std::vector<Member*> make_members(const DatasetPlan& plan, const Record& own);
  void stage(const DatasetPlan& plan, const Record& own, std::span<Member* const> members);
  void resume(Epoch base);

  Group& group_;
  std::shared_ptr<KeeperClient> keeper_;
  bool has_changed_ = false;
};

}  // namespace fenix_impl
