// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/rejoin.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/member/member_codec.hpp"
#include "core/operations/rebuild.hpp"
#include "core/operations/taking_up.hpp"
#include "parity/code.hpp"
#include "recovery/past_shapes.hpp"
#include "recovery/teach_order.hpp"

namespace fenix_impl {
namespace {

/// What some of the ranks say of themselves at the start, all together.
struct Greeting {
  enum Flags : std::uint32_t {
    kSomeKnow = 1,         ///< a rank has the group, with all that was stored there
    kSomeNew = 2,          ///< a rank has not
    kSomeMoved = 4,        ///< a rank has another number than in the group
    kHasSnapshots = 8,     ///< a rank has committed, or holds what another one has committed
    kOwesReport = 16,      ///< snapshots were lost, and the application of some rank has not been told yet
    kHasArchive = 32,      ///< a rank has put something aside
    kWantedDiffers = 64,   ///< ranks gave different arguments
    kSeveralNodes = 128,   ///< ranks are in different places
    kSeveralDomains = 256  ///< or even in different failure domains
  };

  std::uint32_t flags = 0;
  std::int32_t teacher = std::numeric_limits<std::int32_t>::max();  ///< who knows most, and the first of those
  std::uint64_t members = 0;                                        ///< that the teacher knows, and one for the group
  Epoch known_on_all;            ///< the latest commit that is known to be all ranks'
  std::uint32_t generation = 0;  ///< the newest
  std::uint32_t log_places = 0;  ///< of the log that has most
  Shape least{{std::numeric_limits<std::uint32_t>::max()}, std::numeric_limits<std::int32_t>::max()};
  Shape most;  ///< of those ranks' groups that have it
  GroupParameters wanted;
  Location location;

  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
  [[nodiscard]] auto knowledge() const { return std::tuple(members, -std::int64_t{teacher}); }

  void merge(const Greeting& other) {
    flags |= other.flags;
    if (!(wanted == other.wanted)) flags |= kWantedDiffers;
    if (location != other.location) flags |= kSeveralNodes;
    if (location.domain != other.location.domain) flags |= kSeveralDomains;
    if (knowledge() < other.knowledge()) {
      teacher = other.teacher;
      members = other.members;
    }
    known_on_all = std::max(known_on_all, other.known_on_all);
    generation = std::max(generation, other.generation);
    log_places = std::max(log_places, other.log_places);
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

/// What the teacher says of the group.
struct Lesson {
  GroupParameters parameters;
  Shape shape;
};

/// A rank that takes the place of a dead one.
struct Newcomer {
  std::int32_t rank = -1;
  std::int32_t reserved = 0;
  Location location;

  auto operator<=>(const Newcomer&) const = default;
};

/// A region that a rank has kept for the one that takes the place of its owner.
struct Offer {
  std::int32_t keeper = -1;
  std::int32_t reserved = 0;
  OrphanedRegion legacy;

  [[nodiscard]] auto key() const { return std::tuple(legacy.owner, keeper, legacy.what); }
  bool operator<(const Offer& other) const { return key() < other.key(); }
};

/// How much a rank has of a member.
struct KnownCount {
  std::uint32_t member = 0;  ///< its place among the members
  std::int32_t rank = -1;
  std::uint64_t elements = 0;
};

/// What all ranks say of a member.
struct MemberState {
  std::uint32_t slots = 0;    ///< the most that a rank has
  std::uint16_t unknown = 0;  ///< nobody knows how much some rank has
  std::uint16_t deleted = 0;  ///< a rank has deleted it
};

/// A record that a rank keeps for another one.
struct HeldRecord {
  std::int32_t copy = 0;  ///< its number
  std::int32_t reserved = 0;
  CommittedEpoch record;
};

bool makes_sense(const Policy& policy) {
  if (!policy.encodes()) return policy.keeps_copies() || !policy.has_redundancy();
  return policy.separation >= 0 && policy.losses >= 1 && policy.losses <= Code::kMostParity &&
         policy.cohort_size >= 1 && policy.cohort_size <= Policy::kMostCohort;
}

class Rejoin {
 public:
  Rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted, std::shared_ptr<Team> team)
      : group_(group), wanted_(wanted), team_(std::move(team)), self_(team_->rank()) {}

  RejoinResult run(const std::function<void()>& check_arguments,
                   const std::function<std::shared_ptr<Path>()>& choose_path) {
    fault_point("rejoin.begin");
    greet(choose_path);
    if (!existed_) (void)meet(*team_, Operation::group_arguments, 0, 0, check_arguments);
    settle_parameters();
    settle_team();
    if (existed_) settle_members();
    settle_estates();
    (void)meet(*team_, Operation::group_memory, 0, 0, [&] { taking_up().take_memory(log_places()); });
    fault_point("rejoin.memory");
    taking_up().expose();
    taking_up().attach_archive();
    fault_point("rejoin.exposed");
    const std::uint64_t fetched_before = path_->bytes_fetched();
    const auto [newest, epochs] = settle_snapshots();
    if (is_replacement()) tell_of_replacement(path_->bytes_fetched() - fetched_before);
    // What was put aside is of no use once there is something newer.
    if (!newest.none()) group_->parts().archive.reset();
    taking_up().resume(next_generation(), newest.none() ? archived_ : newest, epochs);
    fault_point("rejoin.resumed");
    // Peers may publish progress when they have left this barrier: all boards are set by then.
    team_->barrier();
    group_->parts().owes_loss_report = false;
    log().info("group {}: {} ranks, {} path, {} snapshots", group_->parameters().id, team_->size(), path_->name(),
               epochs.size());
    fault_point("rejoin.end");
    return {existed_, lost_, shares_fate_};
  }

 private:
  [[nodiscard]] TakingUp taking_up() { return TakingUp(group_->parts()); }

  void greet(const std::function<std::shared_ptr<Path>()>& choose_path) {
    if (group_ && (!group_->is_complete() || group_->is_deleted())) group_.reset();
    (void)meet(*team_, Operation::group_create, static_cast<std::uint64_t>(wanted_.id), 0,
               [&] { path_ = choose_path(); });
    if (group_) (void)group_->parts().log.mend_own();
    all_ = team_->reduce(greeting(), [](Greeting& into, const Greeting& from) { into.merge(from); });
    if (all_.teacher < 0 || all_.teacher >= team_->size()) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
    }
    existed_ = all_.has(Greeting::kSomeKnow);
    lost_ = all_.has(Greeting::kOwesReport);
    moved_ = existed_ && (all_.has(Greeting::kSomeMoved) || all_.least != all_.most);
    find_newcomers();
    fault_point("rejoin.greeted");
  }

  [[nodiscard]] Greeting greeting() const {
    Greeting mine;
    mine.teacher = self_;
    mine.wanted = wanted_;
    mine.location = team_->location();
    if (!group_) {
      mine.flags = Greeting::kSomeNew;
      return mine;
    }
    mine.flags = Greeting::kSomeKnow;
    if (group_->ranks().size != team_->size() || group_->ranks().rank != self_) mine.flags |= Greeting::kSomeMoved;
    if (group_->parts().owes_loss_report) mine.flags |= Greeting::kOwesReport;
    if (!group_->log().own_epochs().empty()) mine.flags |= Greeting::kHasSnapshots;
    for (int copy = 0; copy < group_->ranks().placement.copies(); ++copy) {
      if (!group_->log().held_epochs(copy).empty()) mine.flags |= Greeting::kHasSnapshots;
    }
    if (const Archive* archive = group_->parts().archive.get(); archive != nullptr && !archive->empty()) {
      mine.flags |= Greeting::kHasSnapshots | Greeting::kHasArchive;
    }
    mine.members = group_->members().size() + 1;
    mine.known_on_all = group_->parts().log.known_on_all();
    mine.generation = group_->log().generation().value;
    mine.log_places = group_->log().places();
    mine.least = mine.most = group_->parts().shape;
    return mine;
  }

  void find_newcomers() {
    if (!existed_ || moved_ || !all_.has(Greeting::kSomeNew)) return;
    std::vector<Newcomer> mine;
    if (!group_) mine.push_back({self_, 0, team_->location()});
    for (const Newcomer& each : team_->gather_some(std::span<const Newcomer>(mine))) {
      if (each.rank < 0 || each.rank >= team_->size()) {
        throw Error(FENIX_ERROR_INTERN, "what a rank says of its number cannot be");
      }
      newcomers_[each.rank] = each.location;
      missing_.insert(each.rank);
    }
  }

  [[nodiscard]] bool is_replacement() const { return newcomers_.count(self_) != 0; }
  [[nodiscard]] bool has_inherited(int rank) const { return inherited_.count(rank) != 0; }

  // The rank that knows most members tells the others: members are created one after the other on all ranks, so it knows all
  // that any rank knows.
  void settle_parameters() {
    if (!existed_ && all_.has(Greeting::kWantedDiffers)) {
      throw Error(FENIX_ERROR_MISMATCH, "the ranks gave different arguments to group_create");
    }
    if (existed_) lesson_ = learn();
    if (!existed_ || moved_) order_ = order_of(team_->gather(team_->location()));
    const GroupParameters& agreed = existed_ ? lesson_.parameters : wanted_;
    if (!group_) {
      group_ = std::make_unique<Group>(agreed);
      // Without earlier ranks there is nothing to be rebuilt.
      if (!existed_) group_->parts().state = GroupState::complete;
    }
    taking_up().adopt_parameters(agreed);
  }

  Lesson learn() {
    Lesson lesson;
    if (self_ == all_.teacher) {
      if (!group_) throw Error(FENIX_ERROR_INTERN, "a rank says that this one knows the group");
      lesson = {group_->parameters(), group_->parts().shape};
    }
    team_->broadcast(std::as_writable_bytes(std::span(&lesson, 1)), all_.teacher);
    if (!makes_sense(lesson.parameters.policy) || (!moved_ && lesson.shape.ranks != team_->size())) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
    }
    return lesson;
  }

  // Who protects whom stays as long as the ranks have the same numbers, wherever replacements run: the data lies that way.
  void settle_team() {
    if (existed_) settle_archive();
    if (existed_ && !moved_) {
      // By all: a rejoin that was cut short may have left ranks with orders of their own.
      order_ = teach_order(*team_, all_.teacher, team_->size(), group_->ranks().placement.order());
    }
    taking_up().set_team(team_, path_, std::move(order_));
    group_->parts().shape = existed_ && !moved_ ? lesson_.shape : Shape{next_generation(), team_->size()};
    partners_ = group_->ranks().placement.partners(self_);
    witnesses_ = group_->ranks().placement.witnesses(self_);
    look_for_shared_fate();
  }

  // If ranks have other numbers now, nobody's slots and cohort are what they were: what there is can only be read.
  void settle_archive() {
    if (moved_ || all_.has(Greeting::kHasArchive)) {
      PastShapes past(*team_, *group_, moved_);
      archived_ = past.put_aside();
      had_some_ = past.had_some();
    }
    if (archived_.none()) group_->parts().archive.reset();
    if (!moved_) return;
    note_loss(all_.has(Greeting::kHasSnapshots) && archived_.none() && had_some_);
    taking_up().forget_snapshots();
    group_->parts().state = GroupState::complete;
  }

  void look_for_shared_fate() {
    const Placement& placement = group_->ranks().placement;
    if (placement.copies() == 0 || !all_.has(Greeting::kSeveralNodes)) return;
    auto where = team_->ask(partners_, team_->location());
    where[self_] = team_->location();
    // Without names all are in one domain, and so is the rest of the world.
    const bool domains = all_.has(Greeting::kSeveralDomains);
    const int most = team_->reduce(
        std::max(placement.most_on_a_node(self_, where), domains ? placement.most_in_a_domain(self_, where) : 1),
        [](int& into, int from) { into = std::max(into, from); });
    shares_fate_ = most > placement.copies();
    if (!shares_fate_ || self_ != 0) return;
    log().warn(
        "group {}: {} ranks that protect each other are on one node or in one failure domain, and the policy covers "
        "{}: "
        "snapshots do not survive its death",
        group_->parameters().id, most, placement.copies());
  }

  void settle_members() {
    const auto infos = teach_members();
    // The teacher's order, on all ranks: what is done for one member after the other meets its like on the other ranks.
    group_->parts().members.arrange(infos);
    settle_counts(infos);
  }

  std::vector<MemberInfo> teach_members() {
    std::vector<MemberInfo> infos;
    for (const auto& member : group_->members()) infos.push_back(member->info());
    auto bytes = encode_members(infos);
    team_->broadcast_list(bytes, all_.teacher);
    return decode_members(bytes);
  }

  // Each rank tells its own count. Those that do not know it are told by their witnesses. A member of which none of them knows
  // what some rank has is dropped, and so is one that a rank has deleted.
  void settle_counts(std::span<const MemberInfo> infos) {
    std::vector<Counts> counts;
    std::vector<MemberState> states;
    for (const MemberInfo& info : infos) {
      counts.push_back(known_counts(info));
      const Member* member = group_->find(info.id);
      states.push_back({member != nullptr ? member->memory.layout().slots() : 0, 0,
                        static_cast<std::uint16_t>(group_->members().has_deleted(info.id) ? 1 : 0)});
    }
    find_own_counts(infos, counts);
    tell_own_counts(counts);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      const bool complete =
          counts[i].count(self_) != 0 &&
          std::all_of(partners_.begin(), partners_.end(), [&](int partner) { return counts[i].count(partner) != 0; });
      states[i].unknown = complete || infos[i].resizeable ? 0 : 1;
    }
    const auto all = team_->reduce_lists(std::span<const MemberState>(states), merge_states);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (all[i].unknown != 0 || all[i].deleted != 0) {
        group_->parts().members.drop(infos[i].id);
        continue;
      }
      // A size that may change is 0 until it is told.
      counts[i].try_emplace(self_, 0);
      for (const int partner : partners_) counts[i].try_emplace(partner, 0);
      group_->parts().members.adopt(infos[i], std::move(counts[i]), all[i].slots, self_);
    }
  }

  [[nodiscard]] Counts known_counts(const MemberInfo& info) const {
    const Member* member = group_->find(info.id);
    if (member == nullptr) return {};
    Counts counts = member->memory.counts();
    if (info.resizeable) {
      counts.try_emplace(self_, member->own_count());
    } else {
      counts[self_] = member->own_count();
    }
    return counts;
  }

  // Newcomers do not know them, and whoever was cut short while a member was created.
  void find_own_counts(std::span<const MemberInfo> infos, std::vector<Counts>& counts) {
    const bool lacks = std::any_of(infos.begin(), infos.end(),
                                   [&](const MemberInfo& info) { return group_->find(info.id) == nullptr; });
    const auto ignorant = team_->gather_some(std::span<const int>(&self_, lacks ? 1 : 0));
    if (ignorant.empty()) return;
    std::vector<KnownCount> known;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (const auto& [rank, elements] : counts[i]) {
        if (!std::binary_search(ignorant.begin(), ignorant.end(), rank)) continue;
        known.push_back({static_cast<std::uint32_t>(i), rank, elements});
      }
    }
    for (const auto& [rank, theirs] : team_->ask(witnesses_, std::span<const KnownCount>(known))) {
      for (const KnownCount& each : theirs) {
        if (each.rank != self_ || each.member >= counts.size() || group_->find(infos[each.member].id) != nullptr)
          continue;
        // They differ if growing was cut short, and some have not got to know: nothing is lost with the larger one.
        auto& own = counts[each.member].try_emplace(self_, each.elements).first->second;
        own = std::max(own, each.elements);
      }
    }
  }

  void tell_own_counts(std::vector<Counts>& counts) {
    std::vector<KnownCount> known;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto own = counts[i].find(self_);
      if (own != counts[i].end()) known.push_back({static_cast<std::uint32_t>(i), self_, own->second});
      // What a rank does not know of itself any more counts as unknown.
      for (const int witness : witnesses_) counts[i].erase(witness);
    }
    for (const auto& [rank, theirs] : team_->ask(witnesses_, std::span<const KnownCount>(known))) {
      for (const KnownCount& each : theirs) {
        if (each.member < counts.size()) counts[each.member][rank] = each.elements;
      }
    }
  }

  static void merge_states(std::vector<MemberState>& into, std::span<const MemberState> from) {
    if (into.size() != from.size()) throw Error(FENIX_ERROR_INTERN, "a rank has another number of members");
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i].slots = std::max(into[i].slots, from[i].slots);
      into[i].unknown = std::max(into[i].unknown, from[i].unknown);
      into[i].deleted = std::max(into[i].deleted, from[i].deleted);
    }
  }

  void tell_of_replacement(std::uint64_t fetched) const {
    std::uint64_t bytes = 0;
    for (const auto& member : group_->members()) bytes += member->memory.footprint();
    log().info("group {}: {} the memory of the rank before, {} bytes; fetched {} bytes from other nodes",
               group_->parameters().id, has_inherited(self_) ? "took over" : "made anew", bytes, fetched);
  }

  // Ranks that took the places of dead ones take over the memory of those, where a rank of the same node has kept it: then they
  // know nearly what survivors know. Cut short before the rest is there, too, they come back with nothing, as any replacement.
  void settle_estates() {
    if (moved_) group_->parts().orphaned = {};
    if (newcomers_.empty()) return;
    std::vector<Offer> mine;
    if (!is_replacement()) {
      for (const OrphanedRegion& each : group_->parts().orphaned.offers()) {
        const auto newcomer = newcomers_.find(each.owner);
        if (newcomer != newcomers_.end() && newcomer->second == team_->location()) mine.push_back({self_, 0, each});
      }
    }
    // Those of one keeper are next to each other.
    const auto offered = team_->gather_some(std::span<const Offer>(mine));
    std::map<int, std::vector<OrphanedRegion>> for_this;
    for (const Offer& each : offered) {
      if (each.legacy.owner == self_) for_this[each.keeper].push_back(each.legacy);
    }
    std::vector<std::int32_t> taken;
    for (const auto& [keeper, legacies] : for_this) {
      if (taken.empty() && is_replacement() && taking_up().adopt_memory(legacies)) taken.push_back(self_);
    }
    if (!offered.empty()) {
      for (const std::int32_t rank : team_->gather_some(std::span<const std::int32_t>(taken))) {
        if (newcomers_.count(rank) == 0) throw Error(FENIX_ERROR_INTERN, "a rank has taken over what it had itself");
        inherited_.insert(rank);
        missing_.erase(rank);
      }
    }
    // What nobody takes over must not stand beside what is made anew.
    if (newcomers_.count(group_->parts().orphaned.owner()) != 0) group_->parts().orphaned = {};
  }

  // Kept until a rejoin has come to its end: one that is cut short may already have dropped what is lost.
  void note_loss(bool lost) {
    lost_ = lost_ || lost;
    group_->parts().owes_loss_report = lost_;
  }

  /// Finds the snapshots that are left, and rebuilds what dead ranks had of them.
  ConsistentEpochs settle_snapshots() {
    const CommonEpochs all = common_to_all(*team_, CommonEpochs(find_commits()));
    // Without redundancy, the others go on without what a dead rank had.
    const bool redundant = group_->parameters().policy.has_redundancy();
    const bool enough = group_->ranks().placement.suffices_without(missing_) && !(all.some_unknown() && redundant);
    auto result = enough ? all.consistent() : ConsistentEpochs{};
    const bool all_had_some = all.some_unknown() || !all.some_had_none();
    const bool had_common = (moved_ ? had_some_ : all_had_some) || !all_.known_on_all.none();
    note_loss(result.newest.none() && all_.has(Greeting::kHasSnapshots) && archived_.none() && had_common);
    if (!result.newest.none() && result.newest < all_.known_on_all) {
      log().warn("group {}: the latest snapshot is lost, going back to time stamp {}", group_->parameters().id,
                 group_->parameters().start_time_stamp + static_cast<int>(result.newest.value) - 1);
    }
    const bool some_left = !result.epochs.empty();
    const bool inherited = has_inherited(self_);
    if (group_->is_complete() || inherited) {
      // Ranks that die before all is rebuilt may take the only copy of a record with them: older snapshots stay until then.
      group_->parts().log.keep_only(result.epochs, some_left ? result.epochs.front() : Epoch{});
      fault_point("rejoin.voided");
      if (inherited) complete_inheritance(result);
    } else if (!redundant) {
      if (some_left) group_->parts().log.accept_loss();
    } else {
      std::erase_if(copies_, [&](const CommitLog::RecordCopy& each) { return !contains(result.epochs, each.epoch); });
      (void)Rebuild(group_->parts().context).rebuild_own(copies_, missing_);
    }
    rebuild_held(result);
    // From here on this rank is as good as one that survived, whatever happens to the others.
    if (!group_->is_complete()) {
      group_->parts().state = GroupState::complete;
      fault_point("rejoin.rebuilt");
    }
    note_loss(some_left && result.epochs.empty());
    return result;
  }

  /// What this rank has committed, of which others have copies if it has lost its own records.
  CommittedEpochs find_commits() {
    const Placement& placement = group_->ranks().placement;
    const auto own = group_->log().own_epochs();
    std::vector<HeldRecord> mine;
    for (int copy = 0; copy < placement.copies(); ++copy) {
      for (const CommittedEpoch& each : group_->log().held_epochs(copy)) mine.push_back({copy, 0, each});
    }
    const auto theirs = team_->ask(partners_, std::span<const HeldRecord>(mine));
    // In the memory of a dead rank the last record may be without its seal, and nobody has looked for damage: what others have
    // of its records counts as well.
    const bool knows = missing_.count(self_) == 0 && !moved_;
    if (knows && !has_inherited(self_) && !group_->log().has_lost_data()) return own;
    CommittedEpochs epochs;
    for (int copy = 0; copy < placement.copies() && !moved_; ++copy) {
      const int keeper = placement.keeper(self_, copy);
      if (missing_.count(keeper) != 0) continue;
      std::vector<CommittedEpoch> held;
      for (const HeldRecord& each : theirs.at(keeper)) {
        if (each.copy == copy) held.push_back(each.record);
      }
      add(epochs, held);
      note_copies(copy, held);
    }
    if (has_inherited(self_)) add(epochs, own);
    return epochs;
  }

  /// What the memory that was taken over lacks is rebuilt.
  void complete_inheritance(const ConsistentEpochs& result) {
    auto missing = missing_;
    missing.insert(self_);
    const auto there = group_->log().own_epochs();
    std::erase_if(copies_, [&](const CommitLog::RecordCopy& each) {
      return !contains(result.epochs, each.epoch) ||
             std::any_of(there.begin(), there.end(), [&](const auto& own) { return own.epoch == each.epoch; });
    });
    if (!copies_.empty()) (void)Rebuild(group_->parts().context).rebuild_own(copies_, missing);
  }

  /// Where the records of this rank can be had: of each epoch, one copy.
  void note_copies(int copy, const std::vector<CommittedEpoch>& held) {
    for (const CommittedEpoch& each : held) {
      const bool known = std::any_of(copies_.begin(), copies_.end(),
                                     [&](const CommitLog::RecordCopy& other) { return other.epoch == each.epoch; });
      if (!known && each.deleted == 0) copies_.push_back({each.epoch, each.place, copy});
    }
  }

  static bool contains(const std::vector<Epoch>& epochs, Epoch epoch) {
    return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end();
  }

  /// Of what each rank has of its own now, what others keep for it is completed; leaves the epochs of which everything is there.
  void rebuild_held(ConsistentEpochs& result) {
    const Placement& placement = group_->ranks().placement;
    const auto own = group_->log().own_epochs();
    auto theirs = team_->ask(partners_, std::span<const CommittedEpoch>(own));
    std::vector<CommittedEpochs> at_owners;
    for (int copy = 0; copy < placement.copies(); ++copy) {
      at_owners.emplace_back(theirs.at(placement.kept(self_, copy)));
    }
    const auto whole = Rebuild(group_->parts().context).rebuild_held(result.epochs, at_owners);
    std::vector<CommittedEpoch> mine;
    const bool nothing_to_have = group_->log().has_lost_data();
    for (const Epoch epoch : whole) {
      const bool has_own =
          std::any_of(own.begin(), own.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
      if (has_own || nothing_to_have) mine.push_back({epoch, {}, 0, 0});
    }
    result.epochs = common_to_all(*team_, CommonEpochs(std::move(mine))).consistent().epochs;
  }

  /// Places of the log that has most.
  [[nodiscard]] std::uint32_t log_places() const {
    return moved_ ? group_->log().places() : std::max(group_->log().places(), all_.log_places);
  }

  [[nodiscard]] Generation next_generation() const { return {all_.generation + 1}; }

  std::unique_ptr<Group>& group_;
  GroupParameters wanted_;
  std::shared_ptr<Team> team_;
  int self_;
  std::shared_ptr<Path> path_;
  Greeting all_;
  Lesson lesson_;  // if the group existed
  std::vector<int> order_;
  std::vector<int> partners_;
  std::vector<int> witnesses_;  // and partners
  bool existed_ = false;
  bool moved_ = false;  // the team has another size or order than the one that stored
  std::map<int, Location> newcomers_;
  std::set<int> inherited_;  // newcomers that have taken over the memory of a dead rank
  std::set<int> missing_;    // the others of them: nothing is left of what was there
  bool had_some_ = false;    // every rank may have had a commit of what was put aside
  bool lost_ = false;
  bool shares_fate_ = false;
  std::vector<CommitLog::RecordCopy> copies_;  // of this rank's records, if it has to be rebuilt
  Epoch archived_;                             // newest snapshot of what was put aside
};

}  // namespace

RejoinResult rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted,
                    const std::function<void()>& check_arguments, std::shared_ptr<Team> team,
                    const std::function<std::shared_ptr<Path>()>& choose_path) {
  return together(*team, [&] { return Rejoin(group, wanted, team).run(check_arguments, choose_path); });
}

}  // namespace fenix_impl
