// SPDX-License-Identifier: BSD-3-Clause
// What a rank keeps of the snapshots of a team that had another shape: its own and those it held for another rank, by the
// numbers that the ranks had then. They can be read by all ranks of a new team; nothing is added.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/epochs.hpp"
#include "core/member.hpp"
#include "core/record_log.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Where a rank has a version of a member that some rank has stored. Offsets are from the start of its regions.
struct Holding {
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  std::int32_t stored_by = -1;
  std::uint32_t reserved = 0;
  std::uint64_t record_offset = kNothing;
  std::uint64_t data_offset = 0;
  std::uint64_t table_offset = 0;
};

/// The two that a rank can have: of its own data, and of that of the rank that it protected.
struct Holdings {
  Holding own;
  Holding held;
};

/// What a rank has of a member in an epoch, by its logs and the layout of the member's region.
[[nodiscard]] Holdings holdings(const RecordLog& own_log, int rank, const RecordLog& held_log, int held,
                                const SlotLayout& layout, std::int32_t member_id, Epoch epoch);

class Archive {
 public:
  /// Nothing: of a rank that was not there. It takes part all the same.
  Archive() = default;
  /// rank and held are numbers in shape; held: the rank whose copies this one has, itself if none.
  Archive(const Shape& shape, int rank, int held, bool regions_may_be_touched)
      : shape_(shape), rank_(rank), held_(held), regions_may_be_touched_(regions_may_be_touched) {}
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  void take_control(Region region, const RecordLog& own_log, const RecordLog& held_log);
  void take_member(const MemberInfo& info, Region region, const SlotLayout& layout);

  [[nodiscard]] bool empty() const { return rank_ < 0; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] std::uint32_t log_places() const { return own_log_.places(); }
  [[nodiscard]] std::vector<CommittedEpoch> own_epochs(std::int32_t group_id) const;
  [[nodiscard]] std::vector<CommittedEpoch> held_epochs(std::int32_t group_id) const;
  /// The snapshots that can be had, oldest first; the same on all ranks.
  [[nodiscard]] const std::vector<Epoch>& epochs() const { return epochs_; }
  /// Of the team that stored.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  void set_epochs(const Shape& shape, std::vector<Epoch> epochs) {
    shape_ = shape;
    epochs_ = std::move(epochs);
  }

  /// Collective, jointly successful: every rank makes what it has reachable.
  void attach(Team& team, Path& path);
  void detach();
  [[nodiscard]] bool attached() const { return control_exposure_ != nullptr; }

  [[nodiscard]] const std::vector<std::int32_t>& member_ids() const { return member_ids_; }
  [[nodiscard]] Holdings holdings(std::int32_t member_id, Epoch epoch) const;
  [[nodiscard]] Exposure& control() const { return *control_exposure_; }
  [[nodiscard]] Exposure& member(std::int32_t member_id) const { return *exposures_.at(member_id); }

 private:
  struct Kept {
    Region region;
    SlotLayout layout;
  };

  void settle_ids(Team& team);

  Shape shape_;
  int rank_ = -1;
  int held_ = -1;
  bool regions_may_be_touched_ = false;
  Region control_;
  RecordLog own_log_;
  RecordLog held_log_;
  std::map<std::int32_t, Kept> members_;
  std::vector<Epoch> epochs_;
  std::vector<std::int32_t> member_ids_;
  std::unique_ptr<Exposure> control_exposure_;
  std::map<std::int32_t, std::unique_ptr<Exposure>> exposures_;
};

/// What a rank says of the records in a log that are a group's and an owner's.
[[nodiscard]] std::vector<CommittedEpoch> epochs_in(const RecordLog& log, std::int32_t group_id, int owner);

}  // namespace fenix_impl
