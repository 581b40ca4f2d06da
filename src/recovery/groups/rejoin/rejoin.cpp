// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/rejoin.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "parity/code.hpp"
#include "recovery/groups/rejoin/loss_report.hpp"
#include "recovery/groups/rejoin/member_sizes.hpp"
#include "recovery/groups/rejoin/past_shapes.hpp"
#include "recovery/groups/rejoin/rank_order.hpp"
#include "recovery/groups/rejoin/rank_summary.hpp"
#include "recovery/groups/rejoin/replacements.hpp"
#include "recovery/groups/rejoin/snapshot_recovery.hpp"

namespace fenix_impl {
namespace {

std::string name_of(const Policy& policy) {
  const std::string size = std::to_string(policy.set_size);
  switch (policy.kind) {
    case Policy::Kind::buddies:
      return "copies on pairs";
    case Policy::Kind::ring:
      return "copies on a ring";
    case Policy::Kind::parity:
      return "XOR over " + size;
    case Policy::Kind::reed_solomon:
      return "Reed-Solomon over " + size + " for " + std::to_string(policy.losses) + " losses";
    case Policy::Kind::local:
      break;
  }
  return "no redundancy";
}

/// The state of a group that a rank tells the others.
struct SharedState {
  GroupParameters parameters;
  Shape shape;
};

class Rejoin {
 public:
  Rejoin(std::unique_ptr<Group>& group, const RejoinArguments& arguments)
      : group_(group), arguments_(arguments), team_(arguments.team), self_(team_->rank()) {}

  RejoinResult run() {
    fault_point("rejoin.begin");
    exchange_summaries();
    if (goes_on_with(Kind::kept_memory)) look_at_store();
    look_for_group();
    if (!existed_) (void)meet(*team_, Operation::group_arguments, 0, 0, arguments_.check);
    agree_on_parameters();
    form_team();
    const bool shares_fate = look_for_shared_fate();
    if (existed_) agree_on_members(*team_, *group_, all_.source);
    if (existed_ && all_.has(RankSummary::kSomeNew)) {
      for (const auto& member : group_->members()) member->note_rejoined();
    }
    if (moved_) recovery().drop_orphaned_memory();
    replacements_.adopt_memory(*team_, *group_, goes_on_with(Kind::kept_memory));
    const std::size_t entry = least_entry_bytes();
    (void)meet(*team_, Operation::group_memory, 0, 0, [&] { recovery().take_memory(log_entries(), entry); });
    fault_point("rejoin.memory");
    recovery().expose();
    recovery().attach_archive();
    fault_point("rejoin.exposed");
    recover_snapshots();
    fault_point("rejoin.resumed");
    // Peers may publish progress when they have left this barrier: all boards are set by then.
    team_->barrier();
    recovery().end_rejoin();
    log().info("group {}: {} ranks, {} path, {} snapshots, {}", group_->parameters().id, team_->size(), path_->name(),
               snapshots_, name_of(group_->parameters().policy));
    fault_point("rejoin.end");
    const bool has_none = snapshots_ == 0 && put_aside_.newest.none();
    const bool awaits_store = has_none && (!existed_ || report_.lost() || all_.has(RankSummary::kAwaitsStore));
    RejoinResult result;
    result.existed = existed_;
    result.snapshots_lost = report_.lost();
    result.awaits_store = awaits_store;
    result.run = all_.run;
    result.shares_fate = shares_fate;
    if (goes_on_with(Kind::kept_memory) && snapshots_ > 0) {
      result.kept_run = all_.knowledge.run;
      result.kept_generation = {all_.knowledge.generation};
    }
    return result;
  }

 private:
  using Kind = RankSummary::Knowledge::Kind;

  /// Snapshots of a team of another shape.
  struct PutAside {
    Epoch newest;           ///< snapshot, if any
    bool had_some = false;  ///< every rank may have had a commit of it
  };

  [[nodiscard]] bool goes_on_with(Kind kind) const { return all_.knowledge.kind == kind; }
  [[nodiscard]] bool has_kept() const { return group_ && recovery().kept_memory() != nullptr; }
  [[nodiscard]] GroupRecovery recovery() const { return group_->recovery(); }
  [[nodiscard]] Generation next_generation() const { return {all_.generation + 1}; }

  void exchange_summaries() {
    if (group_ && !has_kept() && (!group_->is_complete() || group_->is_deleted())) group_.reset();
    const bool pending = group_ && recovery().has_pending_commit();
    const auto met = meet(*team_, Operation::group_create, static_cast<std::uint64_t>(arguments_.wanted.id),
                          pending ? 1 : 0, [&] { path_ = arguments_.choose_path(); });
    // A commit in place may have been cut short without a death.
    if (met.bits != 0) settle_pending();
    if (group_ && !has_kept()) recovery().repair_records();
    RankSummary mine = summary_of(*team_, group_.get(), arguments_.wanted, arguments_.store.run);
    mine.generation = std::max(mine.generation, arguments_.highest.value);
    if (path_->makes_memory_real()) mine.flags |= RankSummary::kMemoryIsReal;
    all_ = team_->reduce(mine, [](RankSummary& into, const RankSummary& from) { into.merge(from); });
    if (all_.source < 0 || all_.source >= team_->size()) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
    }
    // A group that was deleted and made again is told from the one before.
    arguments_.highest = next_generation();
    if (has_kept() && mine.knowledge != all_.knowledge) group_.reset();
  }

  // Memory of an earlier run is of use if it is the newest that there is, and enough of it is left.
  void look_at_store() {
    RankSummary::Knowledge in_store;
    (void)meet(*team_, Operation::fetch, 0, 0, [&] {
      const StoreOfJob& store = arguments_.store;
      if (self_ == 0 && store.look) in_store = knowledge_of(store.look(all_.run));
    });
    team_->broadcast(std::as_writable_bytes(std::span(&in_store, 1)), 0);
    // A rank is told of a commit when its description says that there are some.
    const bool is_there = all_.has(RankSummary::kHasSnapshots);
    const bool is_newest = all_.knowledge.run < all_.run.number && in_store <= all_.knowledge;
    const bool is_enough = all_.has(RankSummary::kRedundant) || !all_.has(RankSummary::kSomeKnowLess);
    const bool is_as_wanted = !all_.has(RankSummary::kSomeMoved) && !all_.has(RankSummary::kUnwanted);
    if (is_there && is_newest && is_enough && is_as_wanted) return;
    all_.forget_group();
    group_.reset();
  }

  static RankSummary::Knowledge knowledge_of(const StoreOfJob::Newest& newest) {
    // A dataset that the user has chosen counts more than any memory.
    constexpr std::uint32_t kNewestOfAll = std::numeric_limits<std::uint32_t>::max();
    if (newest.is_chosen) return {Kind::kept_memory, kNewestOfAll, 0};
    if (!newest.name) return {};
    return {Kind::kept_memory, newest.name->run, newest.name->generation};
  }

  void look_for_group() {
    existed_ = all_.has(RankSummary::kSomeKnow);
    report_.begin(all_.has(RankSummary::kOwesReport));
    moved_ = existed_ && (all_.has(RankSummary::kSomeMoved) || all_.least != all_.most);
    if (existed_ && !moved_ && all_.has(RankSummary::kSomeNew)) {
      replacements_.find(*team_, group_ == nullptr || has_kept());
    }
    fault_point("rejoin.greeted");
  }

  void settle_pending() {
    std::vector<GroupRecovery> mine;
    if (group_ && !has_kept()) {
      group_->detach();
      if (group_->ranks().size > 0) mine.push_back(recovery());
    }
    GroupRecovery::settle(*team_, mine);
  }

  // The rank that knows most members tells the others: members are created one after the other on all ranks, so it knows all
  // that any rank knows.
  void agree_on_parameters() {
    if (!existed_ && all_.has(RankSummary::kWantedDiffers)) {
      throw Error(FENIX_ERROR_MISMATCH, "the ranks gave different arguments to group_create");
    }
    if (existed_) shared_ = fetch_state();
    if (!existed_ || moved_) order_ = order_of(team_->gather(team_->location()));
    const GroupParameters& agreed = existed_ ? shared_.parameters : arguments_.wanted;
    if (!group_) {
      group_ = std::make_unique<Group>(agreed);
      // There are no earlier ranks whose data could be missing.
      if (!existed_) recovery().note_complete();
    }
    // A death from here on must not make it a group of which the store is known to have nothing.
    if (!existed_ || all_.has(RankSummary::kAwaitsStore)) group_->store_link().await_dataset(true);
    recovery().adopt_parameters(agreed);
  }

  SharedState fetch_state() {
    SharedState state;
    if (self_ == all_.source) {
      if (!group_) throw Error(FENIX_ERROR_INTERN, "a rank says that this one knows the group");
      state = {group_->parameters(), recovery().shape()};
    }
    team_->broadcast(std::as_writable_bytes(std::span(&state, 1)), all_.source);
    if (!makes_sense(state.parameters.policy) || (!moved_ && state.shape.ranks != team_->size())) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
    }
    return state;
  }

  // Ranks protect each other as before as long as they have the same numbers, wherever replacements run: the data lies that way.
  void form_team() {
    if (existed_) put_archive_aside();
    if (existed_ && !moved_) {
      // All ranks take part: a rejoin that was cut short may have left ranks with orders of their own.
      const std::vector<int>& known = has_kept() ? recovery().kept_memory()->order : group_->ranks().placement.order();
      order_ = share_rank_order(*team_, all_.source, team_->size(), known);
    }
    const Shape shape = existed_ && !moved_ ? shared_.shape : Shape{next_generation(), team_->size()};
    recovery().set_team({team_, path_, std::move(order_), all_.has(RankSummary::kMemoryIsReal), shape});
  }

  // If ranks have other numbers now, slots and redundancy sets are not what they were on any rank: old snapshots can only be
  // read.
  void put_archive_aside() {
    if (moved_ || all_.has(RankSummary::kHasArchive)) {
      PastShapes past(*team_, *group_, moved_);
      const Epoch newest = past.put_aside();
      put_aside_ = {newest, past.had_some()};
    }
    if (put_aside_.newest.none()) recovery().drop_archive();
    if (!moved_) return;
    report_.note(*group_, all_.has(RankSummary::kHasSnapshots) && put_aside_.newest.none() && put_aside_.had_some);
    recovery().forget_snapshots();
    recovery().note_complete();
  }

  // Whether snapshots would not survive the loss of a node or failure domain that the policy seems to cover. Warns of it.
  bool look_for_shared_fate() {
    const Placement& placement = group_->ranks().placement;
    const Policy& policy = group_->parameters().policy;
    if (policy.has_redundancy() && placement.copies() < policy.losses && self_ == 0) {
      log().warn("group {}: with {} ranks it survives the loss of {}, and not of {} as the policy says",
                 group_->parameters().id, team_->size(), placement.copies(), policy.losses);
    }
    if (placement.copies() == 0 || !all_.has(RankSummary::kSeveralNodes)) return false;
    auto where = team_->ask(group_->ranks().partners(), team_->location());
    where[self_] = team_->location();
    // Without names of domains, all ranks are in one domain, and so is the rest of the world.
    const bool domains = all_.has(RankSummary::kSeveralDomains);
    const int most = team_->reduce(
        std::max(placement.most_on_a_node(self_, where), domains ? placement.most_in_a_domain(self_, where) : 1),
        [](int& into, int from) { into = std::max(into, from); });
    const bool shares_fate = most > placement.copies();
    if (shares_fate && self_ == 0) {
      log().warn(
          "group {}: {} ranks that protect each other are on one node or in one failure domain, and the policy covers "
          "{}: snapshots do not survive its death",
          group_->parameters().id, most, placement.copies());
    }
    return shares_fate;
  }

  void recover_snapshots() {
    const std::uint64_t fetched_before = path_->bytes_fetched();
    const SnapshotClues clues{all_, replacements_, moved_, put_aside_.had_some, !put_aside_.newest.none()};
    const auto [newest, epochs] = SnapshotRecovery(*team_, *group_, clues).run(report_);
    if (replacements_.includes(self_)) tell_of_replacement(path_->bytes_fetched() - fetched_before);
    // The archive is of no use once there is something newer.
    if (!newest.none()) recovery().drop_archive();
    // A rank that has not heard that all have committed still has the dataset that it began with. Others have dropped theirs.
    if (snapshots_exist(newest)) group_->store_link().drop_dataset();
    recovery().resume(next_generation(), newest.none() ? put_aside_.newest : newest, epochs);
    snapshots_ = epochs.size();
  }

  [[nodiscard]] bool snapshots_exist(Epoch newest) const { return !newest.none() || !put_aside_.newest.none(); }

  void tell_of_replacement(std::uint64_t fetched) const {
    std::uint64_t bytes = 0;
    for (const auto& member : group_->members()) bytes += member->memory.footprint();
    const bool adopted = replacements_.has_adopted(self_);
    log().info("group {}: {} the memory of the rank before, {} bytes; fetched {} bytes from other nodes",
               group_->parameters().id, adopted ? "took over" : "made anew", bytes, fetched);
  }

  // Returns the entries of the longest log.
  [[nodiscard]] std::uint32_t log_entries() const {
    return moved_ ? group_->log().memory().entries() : std::max(group_->log().memory().entries(), all_.log_entries);
  }

  // Returns how long entries have to be for the records that there are on any rank: the group may have had longer ones so far.
  [[nodiscard]] std::size_t least_entry_bytes() {
    if (!existed_ || !all_.has(RankSummary::kMemoryIsReal)) return RecordLog::kLeastEntryBytes;
    return team_->reduce(group_->log().memory().needed_entry_bytes(group_->members().size()),
                         [](std::size_t& into, std::size_t from) { into = std::max(into, from); });
  }

  std::unique_ptr<Group>& group_;
  const RejoinArguments& arguments_;
  std::shared_ptr<Team> team_;
  int self_;
  std::shared_ptr<Path> path_;
  RankSummary all_;
  SharedState shared_;  // if the group existed
  std::vector<int> order_;
  bool existed_ = false;
  bool moved_ = false;  // the team has another size or order than the one that stored
  Replacements replacements_;
  LossReport report_;
  PutAside put_aside_;
  std::size_t snapshots_ = 0;
};

}  // namespace

RejoinResult rejoin(std::unique_ptr<Group>& group, const RejoinArguments& arguments) {
  return together(*arguments.team, [&] { return Rejoin(group, arguments).run(); });
}

}  // namespace fenix_impl
