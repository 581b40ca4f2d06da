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
#include "core/operations/settlement.hpp"
#include "core/operations/taking_up.hpp"
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
  const std::string cohort = std::to_string(policy.cohort_size);
  switch (policy.kind) {
    case Policy::Kind::buddies:
      return "copies on pairs";
    case Policy::Kind::ring:
      return "copies on a ring";
    case Policy::Kind::parity:
      return "XOR over " + cohort;
    case Policy::Kind::reed_solomon:
      return "Reed-Solomon over " + cohort + " for " + std::to_string(policy.losses) + " losses";
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
  Rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted, std::shared_ptr<Team> team,
         const StoreOfJob& store, Generation& highest)
      : group_(group),
        wanted_(wanted),
        team_(std::move(team)),
        self_(team_->rank()),
        store_(store),
        highest_(highest) {}

  RejoinResult run(const std::function<void()>& check_arguments,
                   const std::function<std::shared_ptr<Path>()>& choose_path) {
    fault_point("rejoin.begin");
    exchange_summaries(choose_path);
    if (goes_on_with(Kind::kept_memory)) look_at_store();
    look_for_group();
    if (!existed_) (void)meet(*team_, Operation::group_arguments, 0, 0, check_arguments);
    agree_on_parameters();
    form_team();
    if (existed_) agree_on_members(*team_, *group_, all_.source);
    if (existed_ && all_.has(RankSummary::kSomeNew)) {
      for (const auto& member : group_->members()) member->note_taken_up();
    }
    if (moved_) group_->parts().orphaned = {};
    replacements_.adopt_memory(*team_, *group_, goes_on_with(Kind::kept_memory));
    const std::size_t entry = least_entry_bytes();
    (void)meet(*team_, Operation::group_memory, 0, 0, [&] { taking_up().take_memory(log_entries(), entry); });
    fault_point("rejoin.memory");
    taking_up().expose();
    taking_up().attach_archive();
    fault_point("rejoin.exposed");
    recover_snapshots();
    fault_point("rejoin.resumed");
    // Peers may publish progress when they have left this barrier: all boards are set by then.
    team_->barrier();
    group_->parts().kept_origin.reset();
    group_->parts().owes_loss_report = false;
    log().info("group {}: {} ranks, {} path, {} snapshots, {}", group_->parameters().id, team_->size(), path_->name(),
               snapshots_, name_of(group_->parameters().policy));
    fault_point("rejoin.end");
    const bool has_none = snapshots_ == 0 && archived_.none();
    const bool awaits_store = has_none && (!existed_ || report_.lost() || all_.has(RankSummary::kAwaitsStore));
    RejoinResult result;
    result.existed = existed_;
    result.snapshots_lost = report_.lost();
    result.awaits_store = awaits_store;
    result.run = all_.run;
    result.shares_fate = shares_fate_;
    if (goes_on_with(Kind::kept_memory) && snapshots_ > 0) {
      result.kept_run = all_.knowledge.run;
      result.kept_generation = {all_.knowledge.generation};
    }
    return result;
  }

 private:
  using Kind = RankSummary::Knowledge::Kind;

  [[nodiscard]] bool goes_on_with(Kind kind) const { return all_.knowledge.kind == kind; }
  [[nodiscard]] bool has_kept() const { return group_ && group_->parts().kept; }
  [[nodiscard]] TakingUp taking_up() { return TakingUp(group_->parts()); }
  [[nodiscard]] Generation next_generation() const { return {all_.generation + 1}; }

  void exchange_summaries(const std::function<std::shared_ptr<Path>()>& choose_path) {
    if (group_ && !has_kept() && (!group_->is_complete() || group_->is_deleted())) group_.reset();
    const bool pending = group_ && !group_->parts().pending.epoch().none();
    const auto met = meet(*team_, Operation::group_create, static_cast<std::uint64_t>(wanted_.id), pending ? 1 : 0,
                          [&] { path_ = choose_path(); });
    // A commit in place may have been cut short without a death.
    if (met.bits != 0) settle_pending();
    if (group_ && !has_kept()) (void)group_->parts().log.mend_own();
    RankSummary mine = summary_of(*team_, group_.get(), wanted_, store_.run);
    mine.generation = std::max(mine.generation, highest_.value);
    if (path_->makes_memory_real()) mine.flags |= RankSummary::kMemoryIsReal;
    all_ = team_->reduce(mine, [](RankSummary& into, const RankSummary& from) { into.merge(from); });
    if (all_.source < 0 || all_.source >= team_->size()) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
    }
    // A group that was deleted and made again is told from the one before.
    highest_ = next_generation();
    if (has_kept() && mine.knowledge != all_.knowledge) group_.reset();
  }

  // Memory of an earlier run is of use if it is the newest that there is, and enough of it is left.
  void look_at_store() {
    RankSummary::Knowledge in_store;
    (void)meet(*team_, Operation::fetch, 0, 0, [&] {
      if (self_ == 0 && store_.look) in_store = knowledge_of(store_.look(all_.run));
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
    std::vector<GroupParts*> mine;
    if (group_ && !has_kept()) {
      group_->detach();
      if (group_->ranks().size > 0) mine.push_back(&group_->parts());
    }
    settle_commits(*team_, mine);
  }

  // The rank that knows most members tells the others: members are created one after the other on all ranks, so it knows all
  // that any rank knows.
  void agree_on_parameters() {
    if (!existed_ && all_.has(RankSummary::kWantedDiffers)) {
      throw Error(FENIX_ERROR_MISMATCH, "the ranks gave different arguments to group_create");
    }
    if (existed_) shared_ = fetch_state();
    if (!existed_ || moved_) order_ = order_of(team_->gather(team_->location()));
    const GroupParameters& agreed = existed_ ? shared_.parameters : wanted_;
    if (!group_) {
      group_ = std::make_unique<Group>(agreed);
      // There are no earlier ranks whose data could be missing.
      if (!existed_) group_->parts().state = GroupState::complete;
    }
    taking_up().adopt_parameters(agreed);
  }

  SharedState fetch_state() {
    SharedState state;
    if (self_ == all_.source) {
      if (!group_) throw Error(FENIX_ERROR_INTERN, "a rank says that this one knows the group");
      state = {group_->parameters(), group_->parts().shape};
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
      const std::vector<int>& known = has_kept() ? group_->parts().kept->order : group_->ranks().placement.order();
      order_ = share_rank_order(*team_, all_.source, team_->size(), known);
    }
    taking_up().set_team(team_, path_, std::move(order_), all_.has(RankSummary::kMemoryIsReal));
    group_->parts().shape = existed_ && !moved_ ? shared_.shape : Shape{next_generation(), team_->size()};
    look_for_shared_fate();
  }

  // If ranks have other numbers now, slots and cohorts are not what they were on any rank: old snapshots can only be
  // read.
  void put_archive_aside() {
    if (moved_ || all_.has(RankSummary::kHasArchive)) {
      PastShapes past(*team_, *group_, moved_);
      archived_ = past.put_aside();
      had_some_ = past.had_some();
    }
    if (archived_.none()) group_->parts().archive.reset();
    if (!moved_) return;
    report_.note(*group_, all_.has(RankSummary::kHasSnapshots) && archived_.none() && had_some_);
    taking_up().forget_snapshots();
    group_->parts().state = GroupState::complete;
  }

  void look_for_shared_fate() {
    const Placement& placement = group_->ranks().placement;
    const Policy& policy = group_->parameters().policy;
    if (policy.has_redundancy() && placement.copies() < policy.losses && self_ == 0) {
      log().warn("group {}: with {} ranks it survives the loss of {}, and not of {} as the policy says",
                 group_->parameters().id, team_->size(), placement.copies(), policy.losses);
    }
    if (placement.copies() == 0 || !all_.has(RankSummary::kSeveralNodes)) return;
    auto where = team_->ask(group_->ranks().partners(), team_->location());
    where[self_] = team_->location();
    // Without names of domains, all ranks are in one domain, and so is the rest of the world.
    const bool domains = all_.has(RankSummary::kSeveralDomains);
    const int most = team_->reduce(
        std::max(placement.most_on_a_node(self_, where), domains ? placement.most_in_a_domain(self_, where) : 1),
        [](int& into, int from) { into = std::max(into, from); });
    shares_fate_ = most > placement.copies();
    if (!shares_fate_ || self_ != 0) return;
    log().warn(
        "group {}: {} ranks that protect each other are on one node or in one failure domain, and the policy covers "
        "{}: snapshots do not survive its death",
        group_->parameters().id, most, placement.copies());
  }

  void recover_snapshots() {
    const std::uint64_t fetched_before = path_->bytes_fetched();
    const SnapshotClues clues{all_, replacements_, moved_, had_some_, !archived_.none()};
    const auto [newest, epochs] = SnapshotRecovery(*team_, *group_, clues).run(report_);
    if (replacements_.includes(self_)) tell_of_replacement(path_->bytes_fetched() - fetched_before);
    // The archive is of no use once there is something newer.
    if (!newest.none()) group_->parts().archive.reset();
    taking_up().resume(next_generation(), newest.none() ? archived_ : newest, epochs);
    snapshots_ = epochs.size();
  }

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
  GroupParameters wanted_;
  std::shared_ptr<Team> team_;
  int self_;
  const StoreOfJob& store_;
  Generation& highest_;
  std::shared_ptr<Path> path_;
  RankSummary all_;
  SharedState shared_;  // if the group existed
  std::vector<int> order_;
  bool existed_ = false;
  bool moved_ = false;  // the team has another size or order than the one that stored
  Replacements replacements_;
  bool had_some_ = false;  // every rank may have had a commit of what was put aside
  LossReport report_;
  bool shares_fate_ = false;
  Epoch archived_;  // newest snapshot of what was put aside
  std::size_t snapshots_ = 0;
};

}  // namespace

RejoinResult rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted,
                    const std::function<void()>& check_arguments, std::shared_ptr<Team> team,
                    const std::function<std::shared_ptr<Path>()>& choose_path, const StoreOfJob& store,
                    Generation& highest) {
  return together(*team, [&] { return Rejoin(group, wanted, team, store, highest).run(check_arguments, choose_path); });
}

}  // namespace fenix_impl
