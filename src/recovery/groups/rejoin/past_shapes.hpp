// SPDX-License-Identifier: BSD-3-Clause
// Snapshots of a team that has got another size or order. Each rank tells all others what it has kept: any of them may
// have what another one wants.
#pragma once

#include <cstdint>
#include <vector>

#include "core/group.hpp"
#include "core/log/epochs.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class PastShapes {
 public:
  /// Exchanges what the ranks have kept. Collective over the team. moved: its ranks have other numbers now than in the
  /// group.
  PastShapes(Team& team, Group& group, bool moved);

  /// Finds the newest shape of which snapshots can be had, and puts them aside for restore_from, those of this rank
  /// among them. All older ones are dropped. Returns the newest snapshot, if any. Collective.
  Epoch put_aside();
  /// Whether there may have been a snapshot that all ranks of some shape had.
  [[nodiscard]] bool had_some() const { return had_some_; }

 private:
  /// The statement of a rank about itself.
  struct Past {
    std::int32_t knows = 0;      ///< it has the group
    std::int32_t lost_data = 0;  ///< it has the group without its data
    Shape shape;                 ///< of the group
    std::int32_t team_rank = -1;
    Shape archive;  ///< of the archive, if it has one
    std::int32_t archive_rank = -1;
  };

  static Past past_of(Group& group);
  static bool makes_sense(const Past& past);
  [[nodiscard]] const Past& past(int rank) const { return pasts_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int number_in(int rank, const Shape& shape) const;
  [[nodiscard]] bool has_put_aside(const Shape& shape) const;
  Placement placement_of(const Shape& shape);
  ConsistentEpochs readable_epochs(const Shape& shape, const Placement& placement);

  Team& team_;
  Group& group_;
  bool moved_;
  bool had_some_ = false;
  std::vector<Past> pasts_;
};

}  // namespace fenix_impl
