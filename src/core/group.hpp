// SPDX-License-Identifier: BSD-3-Clause
// A data group on this rank: members, their slots, and the log of what was committed.
//
// A group outlives the team that it works with. It is detached when a failure is repaired, and attached to the repaired team
// by recovery/rejoin.hpp, which uses the functions under "taking up".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/archive.hpp"
#include "core/control.hpp"
#include "core/epochs.hpp"
#include "core/estate.hpp"
#include "core/group_parameters.hpp"
#include "core/member.hpp"
#include "core/protection.hpp"
#include "core/request.hpp"
#include "core/selection.hpp"
#include "parity/placement.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

struct Fetched;
struct MeetingValues;

/// Where a restore puts elements.
struct Target {
  void* buffer = nullptr;                      ///< null: nowhere
  std::uint64_t room = IntervalSet::kEndless;  ///< elements that fit
  bool in_place = false;                       ///< the member's source buffer, which may be null with a serializer
};

/// What a restore found.
struct Found {
  IntervalSet elements;
  bool partial = false;  ///< some elements of the member are in no snapshot
};

class Group {
 public:
  explicit Group(const GroupParameters& parameters) : parameters_(parameters) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  [[nodiscard]] const GroupParameters& parameters() const { return parameters_; }
  [[nodiscard]] bool attached() const { return team_ != nullptr && team_->sound() && !protection_->broken(); }
  /// Local: throws PeerFailure if a rank of the group's team has died, and the repair is still to come.
  void look_for_failures() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  /// The member with an id, or null.
  [[nodiscard]] Member* find(std::int32_t member_id) const;
  /// True if something of the member is in a snapshot or in the one under construction.
  [[nodiscard]] bool has_data_of(const Member& member) const;
  /// Time stamps of the snapshots known to be consistent, newest first. Local; works when detached, too.
  [[nodiscard]] std::vector<int> snapshots();
  /// Elements of a member in the latest snapshot of this rank; of one whose size cannot change, its count.
  [[nodiscard]] std::uint64_t size_of(const Member& member) const;

  // -------------------------------------------------------------------------------------------- work, while attached

  using Check = std::function<void()>;

  /// Collective. check throws an Error that all ranks get to know.
  Member& create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Collective: create_member where no rank has it; null if all have it. Throws Error(FENIX_ERROR_MISMATCH) else.
  Member* define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Local.
  void delete_member(Member& member);
  /// Collective. Throws, and leaves all as it was, if something has been stored or committed, or memory is short.
  void set_policy(const Policy& policy, const Check& check);
  /// Collective, under the same conditions.
  void set_hashing(bool hashing, const Check& check);
  /// Bytes of shared memory that a member takes up on this rank: whole pages. Local.
  [[nodiscard]] static std::uint64_t footprint(const Member& member);
  /// Collective: what another rank, which need not be the same for all, has to say of a member.
  std::uint64_t ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check);

  /// Throws Error unless the elements can be staged or stored from the member's buffer, or have been staged. Local.
  void check_storable(const Member& member, const Selection& selection) const;
  /// The same, wherever the elements come from.
  void check_selection(const Member& member, const Selection& selection, bool has_serializer) const;
  /// Local; may wait for space. From the member's buffer, or from another one.
  void stage(Member& member, const Selection& selection);
  void stage_from(Member& member, const void* buffer, const Selection& selection);
  /// Local; may wait for space: where the elements of the snapshot under construction are, for the application to write to.
  std::span<std::byte> staging_area(Member& member);
  /// Whether a buffer is what staging_area() gave for this snapshot. Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if it was for
  /// another one.
  [[nodiscard]] static bool is_staging_area(const Member& member, const void* buffer);
  /// Local: opens and closes a file over the elements of the snapshot under construction.
  std::FILE* open_to_stage(Member& member);
  void close_staged(Member& member);
  /// Collective; see Fenix_Data_member_store for when it synchronises: then all ranks get to know what check throws.
  void store(std::span<Member* const> members, const Selection& selection, const Check& check = {});
  /// The same, but protection goes on after the return, until finished(request).
  std::shared_ptr<Request> store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                std::uint64_t request_id, const Check& check = {});
  /// Local: whether a request is not pending any more. Moves it along.
  bool finished(Request& request);
  /// Local: the others would wait for this rank if its request has failed for want of memory, and get to know here.
  void tell_of_failure(const Request& request);
  /// Local: waits until it is finished.
  void wait_for(Request& request);

  /// Collective, synchronising only if all snapshots are kept. Returns the time stamp.
  int commit();
  /// Collective: returns when all ranks have made the latest commit of this one.
  void wait_for_commit_on_all();
  /// Both; time_stamp is set as soon as the commit stands.
  void commit_on_all(int& time_stamp);
  /// Local: forgets what is older than depth.
  void clean_up();
  /// Collective: removes what is not on all ranks. False if the group itself is not.
  bool make_consistent();
  /// Local.
  void delete_snapshot(const SnapshotChoice& choice);
  /// Local: drops everything, but can still take part in make_consistent().
  void become_ghost();
  [[nodiscard]] bool is_ghost() const { return ghost_; }

  /// Collective. Writes to the target when all ranks have what they need.
  Found restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check);
  /// Collective: what another rank, or one of the team before it shrank, has stored.
  Found restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                     const Check& check);
  /// Local.
  Found restore_own(Member& member, const SnapshotChoice& choice, const Target& target);
  /// Local: opens and closes a file over the elements of a snapshot.
  std::FILE* open_to_load(Member& member, const SnapshotChoice& choice, Found& found);
  static void close_loaded(Member& member);
  /// What a verification found on all ranks together: versions of members, their redundancy, and records.
  struct Verified {
    std::uint64_t checked = 0;
    std::uint64_t mended = 0;
    std::uint64_t lost = 0;
  };
  /// Collective: verifies a member in all snapshots, or all members, with their redundancy, and mends what it can.
  Verified verify_all(const Check& check = {});
  Verified verify_member(std::int32_t member_id, const Check& check = {});

  /// Local: tells the others that this rank cannot go on with what they do together.
  void withdraw() noexcept {
    if (team_) team_->withdraw();
  }

  // ------------------------------------------------------------------------------------------------------ taking up

  /// Lets go of the team and of all that leads to peers. What is committed stays. Local.
  void detach();
  /// Whether this rank has what it should have: a rank that takes a dead one's place lacks it until it has been rebuilt.
  [[nodiscard]] bool whole() const { return whole_; }
  void set_whole() { whole_ = true; }
  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  void set_shape(const Shape& shape) { shape_ = shape; }
  [[nodiscard]] int team_size() const { return team_size_; }
  [[nodiscard]] int team_rank() const { return team_rank_; }

  /// Takes over what the others have: a change of it that was cut short may have reached some ranks only. Nothing is stored
  /// then. Local.
  void adopt_parameters(const GroupParameters& parameters) { parameters_ = parameters; }
  /// Sets the team, of which this rank has the place that it had, or a first one. order: of its ranks, for the placement. Local.
  void set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order);
  /// Drops all snapshots and regions, and the other ranks' counts. Local.
  void forget_snapshots();
  /// The team has another shape now: puts snapshots and regions aside, for restore_from. Local.
  void archive_snapshots();
  /// What was put aside, or null.
  [[nodiscard]] const Archive* archive() const { return archive_.get(); }
  /// Which archive is of use, and what for; the same on all ranks. Ranks without it get an empty one.
  void keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs);
  void drop_archive() { archive_.reset(); }
  /// Makes what the ranks have put aside reachable. Collective, jointly successful.
  void attach_archive();
  /// Whether the application has still to be told that snapshots were lost.
  [[nodiscard]] bool owes_loss_report() const { return owes_loss_report_; }
  void set_owes_loss_report(bool owes) { owes_loss_report_ = owes; }
  /// Whether this rank took the place of a dead one, there was nothing left of what that one had, and it has not committed since.
  [[nodiscard]] bool has_lost_data() const { return has_lost_data_; }
  /// Puts the members in the given order, and drops those that are not named. Local.
  void arrange_members(std::span<const MemberInfo> order);
  /// Learns of a member from a peer. Local.
  void adopt_member(const MemberInfo& info, Counts counts, std::uint32_t slots);
  /// Local; nothing if there is no such member.
  void drop_member(std::int32_t member_id);
  /// True if the member was deleted here, and has not been created again.
  [[nodiscard]] bool has_deleted(std::int32_t member_id) const { return deleted_members_.count(member_id) != 0; }
  /// Places in the log.
  [[nodiscard]] std::uint32_t log_places() const;
  /// Takes the memory that is still missing for so many places. Local; Error(FENIX_ERROR_NO_MEMORY).
  void take_memory(std::uint32_t places);
  /// Makes control and member regions reachable for all. Collective, jointly successful.
  void expose();

  /// Who keeps what for whom, in the team that the group has or had.
  [[nodiscard]] const Placement& placement() const { return placement_; }
  /// The records of this rank, and those of which it keeps a copy with a number, that check out. Oldest first.
  [[nodiscard]] std::vector<CommittedEpoch> own_epochs() const;
  [[nodiscard]] std::vector<CommittedEpoch> held_epochs(int copy) const;
  /// The latest epoch that is known to be committed on every rank.
  [[nodiscard]] Epoch known_on_all() { return control_.commits.reached_by_all(); }
  /// Writes own records again that are not what they were when they were committed; returns how many. Local.
  std::uint64_t mend_own_records();
  /// Voids all records, own and held, except those of the given epochs and those of epochs before `oldest`.
  void keep_only(std::span<const Epoch> epochs, Epoch oldest = {});
  /// Where a record of this rank is: the place, and which copy.
  struct RecordCopy {
    Epoch epoch;
    std::uint32_t place = 0;
    int copy = 0;
  };
  /// What this rank can offer of the memory of one that has died on its node; empty if there is nothing, or it may live yet.
  [[nodiscard]] std::vector<Legacy> legacies() const;
  /// Instead of rebuilding: takes over the memory of the rank before, offered by another rank of this node. What
  /// the others committed without that one is still to be rebuilt. False, and nothing has changed, if that cannot be had. Local.
  bool inherit(std::span<const Legacy> legacies);
  /// The rank whose memory this one has kept; none if negative.
  [[nodiscard]] int estate_owner() const { return estate_.owner(); }
  void forget_estate();
  /// Under a policy without redundancy, instead of rebuilding.
  void accept_loss() { has_lost_data_ = true; }
  /// Makes records and slots of this rank anew, from what ranks that are not missing have. Returns the epochs that came out whole.
  std::vector<Epoch> rebuild_own(std::span<const RecordCopy> copies, const std::set<int>& missing);
  /// Makes what this rank keeps for others anew where it is missing; at_owners: by number of the copy, what the owner has
  /// committed. Returns the epochs of which all is there. All ranks must have their own part.
  std::vector<Epoch> rebuild_held(std::span<const Epoch> epochs, std::span<const CommittedEpochs> at_owners);
  /// Goes on from base with the given epochs, which are all that is left. Peers must not publish before all ranks have done
  /// this.
  void resume(Generation generation, Epoch base, std::span<const Epoch> epochs);

 private:
  [[nodiscard]] Team& team() const { return *team_; }
  /// Places that a commit leaves free: one for the record that says that a snapshot was deleted.
  static constexpr std::size_t kPlacesToSpare = 1;

  [[nodiscard]] bool keeps_all() const { return parameters_.depth == GroupParameters::kKeepAll; }
  [[nodiscard]] std::size_t kept_snapshots() const;
  [[nodiscard]] std::uint32_t first_slots() const;
  [[nodiscard]] int time_stamp_of(Epoch epoch) const;

  /// What leads to the peers' regions of a member.
  struct Exposed {
    std::unique_ptr<Exposure> exposure;
    std::vector<std::pair<int, SlotLayout>> peer_layouts;
    SlotLayout kept_layout;
  };

  // group.cpp: memory and attachment
  void meet_to_create(const MemberInfo& info, const Check& check);
  Member& add_member(const MemberInfo& info, const void* buffer, std::uint64_t count);
  [[nodiscard]] std::vector<int> partners() const { return placement_.partners(team_rank_); }
  [[nodiscard]] std::vector<int> witnesses() const { return placement_.witnesses(team_rank_); }
  void learn_counts(std::span<const std::unique_ptr<Member>> members);
  void meet_to_change(std::uint64_t wanted, const Check& check);
  void change_policy(const Policy& policy);
  void set_placement(std::vector<int> order);
  void replace_control(Control control);
  void prepare(const Member& member) const;
  [[nodiscard]] SlotLayout wanted_layout(const Member& member, const Counts& counts, std::uint32_t slots) const;
  static Region grown_region(const Member& member, const SlotLayout& layout);
  void take_member_memory(Member& member) const;
  std::unique_ptr<Exposure> expose_control(const Region& region);
  [[nodiscard]] Exposed expose_member(const Member& member, const Region& region, const SlotLayout& layout);
  static void adopt(Member& member, Exposed exposed) noexcept;
  void retire(Region& region) const;

  // group_settle.cpp: what stores and commits have to agree on before they can begin
  /// True if a serializer says how many elements there are.
  [[nodiscard]] static bool is_open_ended(const Member& member, const Selection& selection) {
    return selection.kind == Selection::Kind::all && member.info.resizeable && member.serializer;
  }
  [[nodiscard]] bool has_to_settle(std::span<Member* const> members) const;
  void settle(std::span<Member* const> members, const Selection& selection, const Check& check);
  void store_alone(std::span<Member* const> members, const Selection& selection);
  std::shared_ptr<Request> begin_request(std::span<Member* const> members, const Selection& selection,
                                         std::uint64_t request_id);
  void begin_stores(std::span<Member* const> members, const Selection& selection, const Check& check);
  [[nodiscard]] Counts wanted_counts(const Member& member, std::uint64_t needed);
  void settle_member(Member& member, std::uint64_t needed);
  void grow_log_if_full();

  // group_stage.cpp
  [[nodiscard]] IntervalSet elements_of(const Member& member, const Selection& selection) const;
  void check_pieces(const Member& member, const IntervalSet& elements) const;
  static void check_readable(const Member& member, const IntervalSet& elements);
  IntervalSet stage_elements(Member& member, const void* buffer, const IntervalSet& elements);
  IntervalSet stage_with_serializer(Member& member, const Selection& selection);
  [[nodiscard]] std::unique_ptr<SlotFile> staging_file(Member& member);
  void take_draft(Member& member, const IntervalSet& elements);
  void note_staged(Member& member, const IntervalSet& elements) const;
  [[nodiscard]] bool has_room(const Member& member, const IntervalSet& elements) const;
  std::span<std::byte> staging_memory(Member& member, std::uint64_t bytes);
  void check_staging_area(const Member& member, const IntervalSet& elements) const;
  std::optional<std::uint32_t> free_slot_for(const Member& member);
  void ask_others(int most_reads);
  void find_commits();
  void wait_for_others(const char* waited_for, const std::function<bool()>& ready);
  bool take_slot(Member& member);
  void unspill(Member& member);
  void forget_old_records();

  // group_store.cpp
  struct Part {
    Member* member = nullptr;
    IntervalSet elements;
    IntervalSet blocks;  ///< to be hashed
    bool mirrored = false;
    bool hashed = false;
  };
  /// What a store makes of a member's part of the snapshot.
  struct Stored {
    Member* member = nullptr;
    bool is_stored = true;
    IntervalSet stored;
    IntervalSet staged;
    IntervalSet hashed;
    std::uint64_t size = 0;
  };
  Part begin_store(Member& member, const Selection& selection, bool in_one_pass);
  void store_in_one_pass(Part& part);
  [[nodiscard]] static Stored once_stored(const Part& part);
  static void swap(Stored& stored) noexcept;
  void protect(const Part& part, const std::atomic<bool>& stop) const;
  void put(const Part& part, const std::atomic<bool>& stop) const;
  void encode_early(std::span<const Part> parts, const std::atomic<bool>& stop) const;
  void wait_for_requests_of(const Member& member);
  void cancel_requests();

  // group_commit.cpp
  void check_committable();
  [[nodiscard]] bool fills_slot(const Member& member) const;
  [[nodiscard]] Wait waiting() const;
  void note_changes();
  void decline_commit();
  template <class Work>
  void do_or_decline(Work&& work);
  std::optional<MemberVersion> finish_version(Member& member, Epoch epoch);
  void carry_over(const Member& member, std::uint32_t from, std::uint32_t to, const IntervalSet& elements) const;
  void complete_table(const Member& member, const MemberVersion* base, const MemberVersion& version,
                      const IntervalSet& changed) const;
  [[nodiscard]] Record next_record(Epoch epoch);
  [[nodiscard]] std::vector<MemberVersion> spare_versions();
  [[nodiscard]] Epoch oldest_kept_with(Epoch epoch) const;
  [[nodiscard]] std::optional<std::uint32_t> free_place(std::size_t to_spare) const;
  void prepare_after_commit();
  void after_commit(PlacedRecord placed);
  int commit_alone();
  bool remove_inconsistent();
  void delete_record(PlacedRecord& placed);

  // group_restore.cpp
  /// What must be the same on all ranks.
  [[nodiscard]] static std::uint64_t hash_of(std::int32_t member_id, const SnapshotChoice& choice);
  [[nodiscard]] const MemberVersion* latest_version(const Member& member) const;
  [[nodiscard]] const PlacedRecord* record_of(Epoch epoch) const;
  [[nodiscard]] const PlacedRecord* latest_record() const;
  [[nodiscard]] bool has_gaps() const;
  [[nodiscard]] ConsistentEpochs consistent_now();
  [[nodiscard]] std::uint64_t epoch_note() const;
  [[nodiscard]] Epoch agree_on_epoch(const SnapshotChoice& choice, const MeetingValues& notes);
  [[nodiscard]] Epoch chosen(const SnapshotChoice& choice, std::span<const Epoch> epochs) const;
  [[nodiscard]] std::map<int, Holdings> all_archived_holdings(std::int32_t member_id, Epoch epoch);
  [[nodiscard]] std::map<int, Holdings> holdings_about(int rank) const;
  [[nodiscard]] Holdings own_holdings(const Member* member, Epoch epoch) const;
  [[nodiscard]] Epoch own_epoch(const SnapshotChoice& choice) const;
  const MemberVersion& checked_version(Member& member, Epoch epoch);
  const MemberVersion& agree_to_restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target,
                                        const Check& check, Found& found);
  static Found found_in(const MemberVersion& version, const SnapshotChoice& choice, bool resizeable);
  void check_room(const Found& found, const Target& target) const;
  static void check_writable(const Found& found, const Target& target, const Member& member);
  void write_to(const Target& target, const Member& member, std::span<const std::byte> slot,
                const IntervalSet& elements) const;

  // group_restore_from.cpp
  Fetched fetch_together(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                         const Check& check, Found& found);

  // group_verify.cpp
  Verified verify_members(std::span<Member* const> members);
  void verify_held(Member& member, std::span<const Epoch> epochs, Verified& counts);

  // group_records.cpp
  void verify_held_records(Verified& counts);

  // group_estate.cpp
  void keep_estate();

  // group_rebuild.cpp
  bool rebuild_own_epoch(const RecordCopy& copy, const std::set<int>& missing);
  bool rebuild_held_epoch(Epoch epoch, std::uint32_t place, int copy);

  GroupParameters parameters_;
  std::vector<std::unique_ptr<Member>> members_;
  std::set<std::int32_t> deleted_members_;
  bool whole_ = false;
  bool resumed_ = false;  // since it was attached
  Estate estate_;         // from a failure until the group goes on
  bool ghost_ = false;
  bool owes_loss_report_ = false;
  bool has_lost_data_ = false;
  Generation generation_;
  Shape shape_;
  Epoch last_;                         // of the latest commit, or where the group goes on from
  std::vector<PlacedRecord> records_;  // own commits that may still be needed, oldest first
  // Memory to use again: a commit is to do without allocations.
  std::vector<std::vector<MemberVersion>> spare_versions_;
  mutable std::vector<std::uint32_t> used_;
  std::vector<Change> changes_;

  int team_size_ = 0;
  int team_rank_ = -1;
  Placement placement_;
  Control control_;

  std::shared_ptr<Team> team_;
  std::shared_ptr<Path> path_;
  std::unique_ptr<Protection> protection_;  // while attached
  bool regions_may_be_touched_ = false;

  RequestWorker worker_;
  std::vector<std::shared_ptr<Request>> requests_;  // given out, not known to be complete
  std::unique_ptr<Archive> archive_;
};

}  // namespace fenix_impl
