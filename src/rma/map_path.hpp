// SPDX-License-Identifier: BSD-3-Clause
// Same node: peers' regions are mapped, and reached by loads and stores. Cannot block on a dead peer. A region is mapped when it is first
// reached: a rank works with few others, and a process may have so many mappings only.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "rma/path.hpp"

namespace fenix_impl {

class MapPath final : public Path {
 public:
  /// Whether each rank keeps open what another one of the node leaves when it dies.
  enum class Keep : bool { no, yes };

  /// The ranks of this node, ascending.
  using NodeRanks = std::shared_ptr<const std::vector<int>>;

  /// Reaches all ranks of the team, or only those for which near is true.
  explicit MapPath(Keep keep = Keep::no, std::vector<bool> near = {})
      : keeps_(keep == Keep::yes), near_(std::move(near)) {}

  [[nodiscard]] std::string_view name() const override { return "map"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return true; }
  [[nodiscard]] std::set<int> adopting_neighbours(const Team& team) const override;
  std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) override;

 private:
  [[nodiscard]] std::optional<int> next_on_node(int self, int ranks, int step) const;
  [[nodiscard]] KeptRegion keep_region(const Team& team, std::span<const RegionAddress> addresses) const;

  bool keeps_;
  std::vector<bool> near_;
  NodeRanks ranks_;  // made by the first expose
};

}  // namespace fenix_impl
