// SPDX-License-Identifier: BSD-3-Clause
// A data group on this rank: members, their slots, and the log of what was committed.
//
// A group outlives the team that it works with. It is detached when a failure is repaired, and attached to the repaired team
// by recovery/rejoin.hpp, which uses the functions under "taking up".
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/board.hpp"
#include "core/member.hpp"
#include "core/record_log.hpp"
#include "parity/pairing.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// What group_create was given; the same on all ranks.
struct GroupParameters {
  std::int32_t id = 0;
  std::int32_t start_time_stamp = 0;
  std::int32_t depth = 0;
  std::int32_t separation = 0;

  bool operator==(const GroupParameters&) const = default;
};

class Group {
 public:
  explicit Group(const GroupParameters& parameters) : parameters_(parameters) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  [[nodiscard]] const GroupParameters& parameters() const { return parameters_; }
  [[nodiscard]] bool attached() const { return team_ != nullptr && team_->sound(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  /// The member with an id, or null.
  [[nodiscard]] Member* find(std::int32_t member_id) const;

  // -------------------------------------------------------------------------------------------- work, while attached

  /// Collective. check_arguments throws an Error that all ranks get to know.
  void create_member(const MemberInfo& info, const void* buffer, std::uint64_t count,
                     const std::function<void()>& check_arguments);
  /// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if the member has no source buffer but needs one. Local.
  static void check_storable(const Member& member);
  /// Collective, not synchronising: waits only for a slot that can be reused.
  void store(Member& member);
  /// Collective, not synchronising. Returns the time stamp.
  int commit();
  /// Collective: returns when all ranks have made the latest commit of this one.
  void wait_for_commit_on_all();
  /// Collective. time_stamp: none for the latest. Writes to target, unless it is null, when all ranks have what they need.
  void restore(std::int32_t member_id, std::optional<int> time_stamp, void* target, std::int64_t max_count,
               const std::function<void()>& check_arguments);
  /// Time stamps of the snapshots known to be consistent, newest first. Local; works when detached, too.
  [[nodiscard]] std::vector<int> snapshots();

  // ------------------------------------------------------------------------------------------------------ taking up

  /// Lets go of the team and of all that leads to peers. What is stored stays. Local.
  void detach();
  /// Whether this rank has what it should have: a rank that takes a dead one's place lacks it until it has been rebuilt.
  [[nodiscard]] bool whole() const { return whole_; }
  void set_whole() { whole_ = true; }
  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] int team_size() const { return team_size_; }
  [[nodiscard]] int team_rank() const { return team_rank_; }

  /// Sets the team, of which this rank has the place that it had, or a first one. Local.
  void set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path);
  /// Drops all snapshots and regions, and the other ranks' counts: the team has another shape. Local.
  void forget_snapshots();
  /// Whether the application has still to be told that snapshots were lost.
  [[nodiscard]] bool owes_loss_report() const { return owes_loss_report_; }
  void set_owes_loss_report(bool owes) { owes_loss_report_ = owes; }
  /// Puts the members in the given order, and drops those that are not named. Local.
  void arrange_members(std::span<const MemberInfo> order);
  /// Learns of a member from a peer. Local.
  void adopt_member(const MemberInfo& info, std::vector<std::uint64_t> counts);
  /// Local; nothing if there is no such member.
  void drop_member(std::int32_t member_id);
  /// Takes the memory that is still missing. Local; Error(FENIX_ERROR_NO_MEMORY).
  void take_memory();
  /// Makes control and member regions reachable for all. Collective, jointly successful.
  void expose();

  /// Epochs of the records of this rank, and of those held for another one, that check out. Oldest first.
  [[nodiscard]] std::vector<Epoch> own_epochs() const;
  [[nodiscard]] std::vector<Epoch> held_epochs() const;
  /// Most epochs that the two functions above return.
  [[nodiscard]] std::size_t log_places() const;
  /// Voids all records, own and held, but those of the given epochs.
  void keep_only(std::span<const Epoch> epochs);
  /// Fetches the records and slots of the given epochs: this rank's own from the rank that holds them, and what this rank
  /// has to hold from its owner. Returns the epochs that came over whole.
  std::vector<Epoch> rebuild(std::span<const Epoch> epochs);
  /// Goes on from the newest of the given epochs, which are all that is left. Peers must not publish before all ranks have
  /// done this.
  void resume(Generation generation, std::span<const Epoch> epochs);

 private:
  [[nodiscard]] Team& team() const { return *team_; }
  [[nodiscard]] int holder() const { return pairing_.holder_of(team_rank_); }
  [[nodiscard]] int held() const { return pairing_.held_by(team_rank_); }
  [[nodiscard]] bool is_protected() const { return holder() != team_rank_; }
  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(parameters_.depth) + 2; }
  [[nodiscard]] Epoch last() const { return records_.empty() ? base_ : records_.back().epoch; }
  /// The oldest epoch that may still be restored when all ranks have committed on_all.
  [[nodiscard]] Epoch oldest_needed(Epoch on_all) const;
  [[nodiscard]] int time_stamp_of(Epoch epoch) const;
  [[nodiscard]] const Record* record_of(Epoch epoch) const;

  std::uint32_t slot_for(const Member& member);
  [[nodiscard]] Record next_record(Epoch epoch) const;
  void forget_old_records();

  void lay_out_control();
  void reserve_records(std::size_t members);
  void take_member_memory(Member& member) const;
  void expose_member(Member& member);

  [[nodiscard]] Epoch restorable(std::optional<int> time_stamp, Epoch newest) const;
  const MemberVersion& checked_version(const Member& member, Epoch epoch);

  std::vector<Epoch> epochs_in(const RecordLog& log, int owner) const;
  bool rebuild_own(Epoch epoch);
  bool rebuild_held(Epoch epoch);

  GroupParameters parameters_;
  std::vector<std::unique_ptr<Member>> members_;
  bool whole_ = false;
  bool owes_loss_report_ = false;
  Generation generation_;
  Epoch base_;                  // what the records build upon
  std::deque<Record> records_;  // own commits that may still be needed, oldest first, without gaps at the end

  int team_size_ = 0;
  int team_rank_ = -1;
  Pairing pairing_{1, 1};
  Region control_;  // board, own log, held log
  Board board_;
  RecordLog own_log_;
  RecordLog held_log_;
  std::size_t reserved_record_bytes_ = 0;

  std::shared_ptr<Team> team_;
  std::shared_ptr<Path> path_;
  std::unique_ptr<Exposure> control_exposure_;
  bool regions_may_be_touched_ = false;
};

}  // namespace fenix_impl
