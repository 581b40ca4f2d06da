// SPDX-License-Identifier: BSD-3-Clause
// The team that a group works with, and all that leads to its ranks: path and protection. Empty between two teams.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/common/group_parameters.hpp"
#include "core/common/group_ranks.hpp"
#include "core/protection/protection.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class Attachment {
 public:
  /// The placement, and the protection that follows from it.
  struct Arrangement {
    Placement placement;
    std::unique_ptr<Protection> protection;
  };

  /// parameters must outlive it.
  explicit Attachment(const GroupParameters& parameters) : parameters_(parameters) {}

  /// Returns the ranks of the team that the group has, or had last.
  [[nodiscard]] const GroupRanks& ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return ranks_.rank; }
  [[nodiscard]] bool has_team() const { return team_ != nullptr; }
  /// Whether the team can be worked with: it has not been given up, and its protection is in step.
  [[nodiscard]] bool is_usable() const {
    if (!team_ || !protection_ || !team_->sound()) return false;
    const CollectiveEncoder* encoder = protection_->encoder();
    return encoder == nullptr || !encoder->is_broken();
  }
  [[nodiscard]] Team& team() const { return *team_; }
  [[nodiscard]] Path& path() const { return *path_; }
  [[nodiscard]] const std::shared_ptr<Path>& shared_path() const { return path_; }
  [[nodiscard]] Protection& protection() const { return *protection_; }
  /// Waits with a watch over the team, and with a deadline: see core/common/waiting.hpp.
  [[nodiscard]] Wait waiting() const;

  /// Attaches to a team, which must be detached from the one before. order: of its ranks, for the placement.
  /// memory_is_real: the same on all ranks.
  void attach(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order, bool memory_is_real,
              Control& control);
  void detach();
  /// Drops the protection alone: its peers' regions come next.
  void drop_protection() { protection_.reset(); }
  /// Makes placement and protection anew, as the policy is another one now. Returns those of before.
  Arrangement rearrange(std::vector<int> order, Control& control);
  void restore(Arrangement before);

  /// Local: tells the others that this rank cannot go on with what they do together.
  void withdraw() noexcept {
    if (team_) team_->withdraw();
  }
  /// Local: throws PeerFailure if a rank of the team has died, and the repair is still to come.
  void look_for_failures() const;

 private:
  const GroupParameters& parameters_;
  GroupRanks ranks_;
  std::shared_ptr<Team> team_;
  std::shared_ptr<Path> path_;
  std::unique_ptr<Protection> protection_;
};

}  // namespace fenix_impl
