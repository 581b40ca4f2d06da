// SPDX-License-Identifier: BSD-3-Clause
// The snapshots of a team that had another shape, as far as this rank keeps them: its own, and those it held for other
// ranks, by the numbers that the ranks had then. All ranks of a new team can read them; nothing is added.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/log/epochs.hpp"
#include "core/log/record_log.hpp"
#include "core/member/member.hpp"
#include "parity/code.hpp"
#include "parity/placement.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// The position of a version of a member on a rank. Offsets are from the start of its regions.
struct Holding {
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  std::int32_t stored_by = -1;
  std::uint32_t reserved = 0;
  std::uint64_t record = kNothing;
  std::uint64_t data = kNothing;
  std::uint64_t data_bytes = 0;  ///< of all elements of the rank that stored
  std::uint64_t parity = 0;
};

/// All holdings that a rank can have: of its own data, and by number of the copy of what others have stored.
struct Holdings {
  Holding own;
  std::array<Holding, static_cast<std::size_t>(Code::kMostParity)> held;
  std::uint64_t unit = 1;  ///< of stripes, where data is encoded
};

/// The memory of a member on a rank, in the shape in which it was stored.
struct Holder {
  const Placement& placement;
  int rank = 0;
  const RecordLog& own_log;
  const std::vector<RecordLog>& held_logs;
  const SlotLayout& layout;
  const MemberInfo& info;
  const Counts& counts;
};

[[nodiscard]] Holdings holdings_of(const Holder& holder, const Policy& policy, Epoch epoch);

class Archive {
 public:
  /// Makes the empty archive of a rank that was not there. It takes part in collective calls all the same.
  Archive() = default;
  /// rank: number of this rank in shape.
  Archive(const Shape& shape, const Policy& policy, const Placement& placement, int rank)
      : shape_(shape), policy_(policy), placement_(placement), rank_(rank) {}
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() { detach(); }

  /// Takes over regions. They are taken last: if there is no memory, they stay where they are.
  void take_control(Region&& region, const RecordLog& own_log, const std::vector<RecordLog>& held_logs);
  void take_member(const MemberInfo& info, Region&& region, const SlotLayout& layout, Counts&& counts);
  /// Takes the memory for take_member(), so that it cannot fail.
  void expect_member(std::int32_t member_id) { (void)members_[member_id]; }

  [[nodiscard]] bool empty() const { return rank_ < 0; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::vector<CommittedEpoch> own_epochs(std::int32_t group_id) const;
  [[nodiscard]] std::vector<CommittedEpoch> held_epochs(std::int32_t group_id, int copy) const;
  /// Returns the snapshots that can be had, oldest first; the same on all ranks.
  [[nodiscard]] const std::vector<Epoch>& epochs() const { return epochs_; }
  /// Returns the shape of the team that stored.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  void set_epochs(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs) {
    shape_ = shape;
    placement_ = placement;
    epochs_ = std::move(epochs);
  }

  /// Makes the archives of all ranks reachable. Collective, jointly successful.
  void attach(Team& team, Path& path);
  void detach();
  [[nodiscard]] bool attached() const { return remote_control_ != nullptr; }

  [[nodiscard]] const std::vector<std::int32_t>& member_ids() const { return member_ids_; }
  [[nodiscard]] Holdings holdings(std::int32_t member_id, Epoch epoch) const;
  [[nodiscard]] RemoteRegions& control() const { return *remote_control_; }
  /// Returns the regions of a member; null if no rank has one.
  [[nodiscard]] RemoteRegions* member(std::int32_t member_id) const {
    const auto found = remote_.find(member_id);
    return found == remote_.end() ? nullptr : found->second.get();
  }

 private:
  struct Kept {
    MemberInfo info;
    Region region;
    SlotLayout layout;
    Counts counts;
  };

  void agree_on_ids(Team& team);

  Shape shape_;
  Policy policy_;
  Placement placement_;
  int rank_ = -1;
  Region control_;
  RecordLog own_log_;
  std::vector<RecordLog> held_logs_;
  std::map<std::int32_t, Kept> members_;
  std::vector<Epoch> epochs_;
  std::vector<std::int32_t> member_ids_;
  std::unique_ptr<RemoteRegions> remote_control_;
  std::map<std::int32_t, std::unique_ptr<RemoteRegions>> remote_;
};

}  // namespace fenix_impl
