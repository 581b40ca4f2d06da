// SPDX-License-Identifier: BSD-3-Clause
// Several nodes: each peer by the path that suits it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rma/map_path.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// Ranks of this node by the path "map", those of other nodes by another one.
class MixedPath final : public Path {
 public:
  /// near: for each rank of the team, whether it is on this node.
  MixedPath(std::shared_ptr<Path> across, MapPath::Keep keep, std::vector<bool> near);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] bool puts_are_copies(int target) const override;
  [[nodiscard]] bool makes_memory_real() const override { return across_->makes_memory_real(); }
  bool make_progress() override { return across_->make_progress(); }
  [[nodiscard]] std::uint64_t bytes_fetched() const override { return across_->bytes_fetched(); }
  [[nodiscard]] std::set<int> adopting_neighbours(const Team& team) const override {
    return within_.adopting_neighbours(team);
  }
  std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) override;
  [[nodiscard]] bool has_kept_memory() const override { return across_->has_kept_memory(); }
  void give_back(Team& team) override { across_->give_back(team); }

 private:
  std::shared_ptr<Path> across_;
  MapPath within_;
  std::vector<bool> near_;
  std::string name_;
};

}  // namespace fenix_impl
