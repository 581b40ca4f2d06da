// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/rejoin.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/meeting.hpp"
#include "core/member_codec.hpp"
#include "parity/code.hpp"

namespace fenix_impl {
namespace {

/// What each rank says of itself at the start.
struct Hello {
  std::int32_t knows = 0;          ///< it has the group, with all that was stored there
  std::int32_t has_snapshots = 0;  ///< it has committed, or holds what another rank has committed
  std::int32_t lost_data = 0;      ///< it took the place of a dead rank, without anything of its data
  std::int32_t owes_report = 0;    ///< snapshots were lost, and the application has not been told yet
  Epoch known_on_all;              ///< the latest commit that it knows all ranks to have made
  std::uint32_t generation = 0;
  GroupParameters parameters;
  std::int32_t team_size = 0;
  std::int32_t team_rank = 0;
  std::uint64_t members = 0;
  std::uint32_t log_places = 0;
  Shape shape;
  Shape archive;  ///< of what it has put aside, if anything
  std::int32_t archive_rank = -1;
  Location location;
};

bool makes_sense(const Policy& policy) {
  if (!policy.encodes()) return policy.keeps_copies() || policy.kind == Policy::Kind::local;
  return policy.separation >= 0 && policy.losses >= 1 && policy.losses <= Code::kMostParity &&
         policy.cohort_size >= 1 && policy.cohort_size <= Policy::kMostCohort;
}

/// Whether the numbers in it can be: they lead to sizes and indices. What a rank wants that does not know the group is looked at
/// with its arguments.
bool makes_sense(const Hello& hello) {
  const auto is_number_in = [](int rank, const Shape& shape) {
    constexpr int kMostRanks = 1 << 24;
    return rank >= 0 && rank < shape.ranks && shape.ranks <= kMostRanks;
  };
  if (hello.archive_rank >= 0 && !is_number_in(hello.archive_rank, hello.archive)) return false;
  return hello.knows == 0 || (is_number_in(hello.team_rank, hello.shape) && makes_sense(hello.parameters.policy));
}

class Rejoin {
 public:
  Rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted, std::shared_ptr<Team> team)
      : group_(group), wanted_(wanted), team_(std::move(team)) {}

  RejoinResult run(const std::function<void()>& check_arguments,
                   const std::function<std::shared_ptr<Path>()>& choose_path) {
    fault_point("rejoin.begin");
    greet(choose_path);
    if (!existed_) (void)meet(*team_, Operation::group_arguments, 0, 0, check_arguments);
    settle_parameters();
    settle_members();
    settle_estates();
    (void)meet(*team_, Operation::group_memory, 0, 0, [&] { group_->take_memory(log_places()); });
    fault_point("rejoin.memory");
    group_->expose();
    group_->attach_archive();
    fault_point("rejoin.exposed");
    const std::uint64_t fetched_before = path_->bytes_fetched();
    const auto [newest, epochs] = settle_snapshots();
    if (is_replacement_) tell_of_replacement(path_->bytes_fetched() - fetched_before);
    // What was put aside is of no use once there is something newer.
    if (!newest.none()) group_->drop_archive();
    group_->resume(next_generation(), newest.none() ? archived_ : newest, epochs);
    fault_point("rejoin.resumed");
    // Peers may publish progress when they have left this barrier: all boards are set by then.
    team_->barrier();
    group_->set_owes_loss_report(false);
    log().info("group {}: {} ranks, {} path, {} snapshots", group_->parameters().id, team_->size(), path_->name(),
               epochs.size());
    fault_point("rejoin.end");
    return {existed_, lost_, shares_fate_};
  }

 private:
  void greet(const std::function<std::shared_ptr<Path>()>& choose_path) {
    if (group_ && (!group_->whole() || group_->is_ghost())) group_.reset();
    (void)meet(*team_, Operation::group_create, static_cast<std::uint64_t>(wanted_.id), 0,
               [&] { path_ = choose_path(); });
    if (group_) (void)group_->mend_own_records();
    Hello hello;
    hello.parameters = wanted_;
    if (group_) hello = hello_of(*group_);
    hello.location = team_->location();
    hellos_ = team_->gather(hello);
    for (const Hello& other : hellos_) {
      if (!makes_sense(other)) throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
      had_snapshots_ = had_snapshots_ || other.has_snapshots != 0;
      known_on_all_ = std::max(known_on_all_, other.known_on_all);
      lost_ = lost_ || other.owes_report != 0;
      existed_ = existed_ || other.knows != 0;
    }
    fault_point("rejoin.greeted");
  }

  static Hello hello_of(Group& group) {
    Hello hello;
    hello.knows = 1;
    hello.has_snapshots = group.own_epochs().empty() ? 0 : 1;
    for (int copy = 0; copy < group.placement().copies(); ++copy) {
      if (!group.held_epochs(copy).empty()) hello.has_snapshots = 1;
    }
    hello.lost_data = group.has_lost_data() ? 1 : 0;
    hello.owes_report = group.owes_loss_report() ? 1 : 0;
    hello.known_on_all = group.known_on_all();
    hello.generation = group.generation().value;
    hello.parameters = group.parameters();
    hello.team_size = group.team_size();
    hello.team_rank = group.team_rank();
    hello.members = group.members().size();
    hello.log_places = group.log_places();
    hello.shape = group.shape();
    if (const Archive* archive = group.archive(); archive != nullptr && !archive->empty()) {
      hello.has_snapshots = 1;
      hello.archive = archive->shape();
      hello.archive_rank = archive->rank();
    }
    return hello;
  }

  void settle_parameters() {
    // The rank that knows most members tells the others: members are created one after the other on all ranks, so it knows
    // all that any rank knows.
    for (int rank = 1; rank < team_->size(); ++rank) {
      const Hello& best = hello(teacher_);
      const Hello& other = hello(rank);
      if (other.knows > best.knows || (other.knows == best.knows && other.members > best.members)) teacher_ = rank;
    }
    const GroupParameters& agreed = hello(teacher_).parameters;
    if (!existed_) {
      for (const Hello& other : hellos_) {
        if (!(other.parameters == agreed)) {
          throw Error(FENIX_ERROR_MISMATCH, "the ranks gave different arguments to group_create");
        }
      }
    }
    for (int rank = 0; rank < team_->size(); ++rank) {
      const Hello& other = hello(rank);
      if (other.knows == 0) continue;
      if (other.team_size != team_->size() || other.team_rank != rank) moved_ = true;
      if (!(other.shape == hello(teacher_).shape)) moved_ = true;
    }
    if (!group_) {
      group_ = std::make_unique<Group>(agreed);
      // Without earlier ranks there is nothing to be rebuilt.
      if (!existed_) group_->set_whole();
    }
    group_->adopt_parameters(agreed);
  }

  void settle_members() {
    if (existed_) settle_archive();
    group_->set_team(team_, path_, settle_order());
    look_for_shared_fate();
    group_->set_shape(existed_ && !moved_ ? hello(teacher_).shape : Shape{next_generation(), team_->size()});
    if (!existed_) return;
    const auto infos = teach_members();
    // The teacher's order, on all ranks: what is done for one member after the other meets its like on the other ranks.
    group_->arrange_members(infos);
    for (const MemberInfo& info : infos) settle_counts(info);
  }

  void tell_of_replacement(std::uint64_t fetched) const {
    std::uint64_t bytes = 0;
    for (const auto& member : group_->members()) bytes += Group::footprint(*member);
    log().info("group {}: {} the memory of the rank before, {} bytes; fetched {} bytes from other nodes",
               group_->parameters().id, inherited_[index(team_->rank())] ? "took over" : "made anew", bytes, fetched);
  }

  // Ranks that took the places of dead ones take over the memory of those, where a rank of the same node has kept it: then they
  // know nearly what survivors know. Cut short before the rest is there, too, they come back with nothing, as any replacement.
  void settle_estates() {
    const auto is_new = [&](int rank) { return hello(rank).knows == 0; };
    inherited_.resize(index(team_->size()));
    if (moved_) group_->forget_estate();
    if (!existed_ || moved_) return;
    bool some_new = false;
    for (int rank = 0; rank < team_->size(); ++rank) some_new = some_new || is_new(rank);
    if (!some_new) return;
    is_replacement_ = is_new(team_->rank());
    auto mine = is_replacement_ ? std::vector<Legacy>{} : group_->legacies();
    std::erase_if(mine, [&](const Legacy& each) {
      return each.owner < 0 || each.owner >= team_->size() || !is_new(each.owner) ||
             hello(each.owner).location != hello(team_->rank()).location;
    });
    const auto offered = team_->gather_lists(std::span<const Legacy>(mine));
    char taken = 0;
    for (const auto& list : offered) {
      if (taken == 0 && is_replacement_ && !list.empty() && list.front().owner == team_->rank()) {
        taken = group_->inherit(list) ? 1 : 0;
      }
    }
    const auto all = team_->gather(taken);
    for (int rank = 0; rank < team_->size(); ++rank) {
      if (!is_new(rank) || all[index(rank)] == 0) continue;
      hellos_[index(rank)].knows = 1;
      inherited_[index(rank)] = true;
    }
    // What nobody takes over must not stand beside what is made anew.
    const int owner = group_->estate_owner();
    if (owner >= 0 && owner < team_->size() && is_new(owner)) group_->forget_estate();
  }

  [[nodiscard]] std::vector<Location> locations() const {
    std::vector<Location> all;
    for (const Hello& each : hellos_) all.push_back(each.location);
    return all;
  }

  /// Who protects whom stays as long as the ranks have the same numbers, wherever replacements run: the data lies that way.
  std::vector<int> settle_order() {
    if (!existed_ || moved_) return order_of(locations());
    return teach_order(teacher_, team_->size(), group_->placement());
  }

  /// The order of a placement that one rank knows for sure.
  std::vector<int> teach_order(int teacher, int ranks, const Placement& known) {
    auto order = known.order();
    order.resize(static_cast<std::size_t>(ranks));
    team_->broadcast(std::as_writable_bytes(std::span(order)), teacher);
    if (!is_order(order)) throw Error(FENIX_ERROR_INTERN, "what a rank says of the order of ranks cannot be");
    return order;
  }

  void look_for_shared_fate() {
    const auto all = locations();
    const Placement& placement = group_->placement();
    if (placement.copies() == 0 || std::equal(all.begin() + 1, all.end(), all.begin())) return;
    // Without names all are in one domain, and so is the rest of the world.
    const bool several_domains =
        std::any_of(all.begin(), all.end(), [&](const Location& each) { return each.domain != all[0].domain; });
    const int most = std::max(placement.most_on_a_node(all), several_domains ? placement.most_in_a_domain(all) : 1);
    shares_fate_ = most > placement.copies();
    if (!shares_fate_ || team_->rank() != 0) return;
    log().warn(
        "group {}: {} ranks that protect each other are on one node or in one failure domain, and the policy covers "
        "{}: "
        "snapshots do not survive its death",
        group_->parameters().id, most, placement.copies());
  }

  std::vector<MemberInfo> teach_members() {
    std::vector<MemberInfo> infos;
    for (const auto& member : group_->members()) infos.push_back(member->info);
    auto bytes = encode_members(infos);
    auto length = static_cast<std::uint64_t>(bytes.size());
    team_->broadcast(std::as_writable_bytes(std::span(&length, 1)), teacher_);
    if (length > Team::kMostBytes)
      throw Error(FENIX_ERROR_INTERN, "what a rank says of the members is longer than can be");
    bytes.resize(length);
    team_->broadcast(bytes, teacher_);
    return decode_members(bytes);
  }

  // Each rank tells its own count. For those that do not know it, the teacher may: as a rule every rank knows the counts of
  // all. A member that has a count that nobody knows any more is dropped, and so is one that a rank has deleted.
  void settle_counts(const MemberInfo& info) {
    struct Count {
      std::uint64_t elements = 0;
      std::uint32_t slots = 0;
      std::uint16_t known = 0;
      std::uint16_t deleted = 0;
    };
    const auto ranks = static_cast<std::size_t>(team_->size());
    const Member* member = group_->find(info.id);
    Count mine{0, 0, 0, static_cast<std::uint16_t>(group_->has_deleted(info.id) ? 1 : 0)};
    if (member != nullptr) {
      const auto self = static_cast<std::size_t>(team_->rank());
      const bool grown = info.resizeable && member->counts.size() == ranks;
      mine = {grown ? member->counts[self] : member->own_count, member->layout.slots(), 1, mine.deleted};
    }
    const auto counts = team_->gather(mine);
    std::vector<Count> taught(ranks);
    if (member != nullptr && member->counts.size() == ranks) {
      std::transform(member->counts.begin(), member->counts.end(), taught.begin(), [](std::uint64_t elements) {
        return Count{elements, 0, 1, 0};
      });
    }
    team_->broadcast(std::as_writable_bytes(std::span(taught)), teacher_);
    std::vector<std::uint64_t> elements;
    std::uint32_t slots = 0;
    bool deleted = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Count& count = counts[rank].known != 0 ? counts[rank] : taught[rank];
      if (count.known != 0 || info.resizeable) elements.push_back(count.elements);
      slots = std::max(slots, count.slots);
      deleted = deleted || counts[rank].deleted != 0;
    }
    if (elements.size() == ranks && !deleted) {
      group_->adopt_member(info, std::move(elements), slots);
    } else {
      group_->drop_member(info.id);
    }
  }

  // ------------------------------------------------------------------------------------------ another shape of the team

  // If ranks have other numbers now, nobody's slots and cohort are what they were: what there is can only be read. A rejoin
  // that was cut short may have put it aside on some ranks and not on others.
  void settle_archive() {
    std::set<Shape> shapes;
    for (const Hello& each : hellos_) {
      if (moved_ && each.knows != 0) shapes.insert(each.shape);
      if (each.archive_rank >= 0) shapes.insert(each.archive);
    }
    for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape) {
      const Placement placement = placement_of(*shape);
      const auto readable = readable_epochs(*shape, placement);
      if (readable.epochs.empty()) continue;
      archived_ = readable.newest;
      // Unless that has been done already, by a rejoin that was cut short right after it.
      const bool attached = moved_ && hello(team_->rank()).knows != 0 && group_->shape() == *shape;
      if (attached && !has_put_aside(*shape)) group_->archive_snapshots();
      group_->keep_archive(*shape, placement, readable.epochs);
      break;
    }
    if (archived_.none()) group_->drop_archive();
    if (!moved_) return;
    note_loss(had_snapshots_ && archived_.none() && had_some_);
    group_->forget_snapshots();
    group_->set_whole();
  }

  /// The number that a rank has in a shape of which it has kept something; none if negative.
  [[nodiscard]] int number_in(int rank, const Shape& shape) const {
    const Hello& it = hello(rank);
    if (moved_ && it.knows != 0 && it.shape == shape) return it.team_rank;
    return it.archive_rank >= 0 && it.archive == shape ? it.archive_rank : -1;
  }

  [[nodiscard]] bool has_put_aside(const Shape& shape) const {
    const Archive* there = group_->archive();
    return there != nullptr && !there->empty() && there->shape() == shape;
  }

  /// Who protected whom in a shape; some rank knows.
  Placement placement_of(const Shape& shape) {
    int knowing = 0;
    while (number_in(knowing, shape) < 0) ++knowing;
    auto order =
        teach_order(knowing, shape.ranks, has_put_aside(shape) ? group_->archive()->placement() : group_->placement());
    return {group_->parameters().policy, shape.ranks, std::move(order)};
  }

  /// The snapshots of a shape of which everything can be had.
  ConsistentEpochs readable_epochs(const Shape& shape, const Placement& placement) {
    const int self = number_in(team_->rank(), shape);
    const bool put_aside = hello(team_->rank()).archive_rank >= 0 && hello(team_->rank()).archive == shape;
    const std::int32_t id = group_->parameters().id;
    const auto exchange_if = [&](auto&& epochs) {
      return exchange(self < 0 ? std::vector<CommittedEpoch>{} : epochs());
    };
    std::vector<CommittedEpochs> ranks(static_cast<std::size_t>(shape.ranks));
    for (int copy = 0; copy < placement.copies(); ++copy) {
      const auto held =
          exchange_if([&] { return put_aside ? group_->archive()->held_epochs(id, copy) : group_->held_epochs(copy); });
      for (int rank = 0; rank < team_->size(); ++rank) {
        const int number = number_in(rank, shape);
        if (number >= 0) add(ranks[index(placement.kept(number, copy))], held[index(rank)]);
      }
    }
    const auto own = exchange_if([&] { return put_aside ? group_->archive()->own_epochs(id) : group_->own_epochs(); });
    for (int rank = 0; rank < team_->size(); ++rank) {
      const int number = number_in(rank, shape);
      if (number >= 0 && hello(rank).lost_data == 0) ranks[index(number)] = own[index(rank)];
    }
    const bool unknown = std::any_of(ranks.begin(), ranks.end(), [](const CommittedEpochs& epochs) { return !epochs; });
    had_some_ = had_some_ || unknown || !some_had_none(ranks);
    if (without_redundancy()) drop_missing(ranks);
    return enough_left(placement, shape) ? consistent_epochs(ranks) : ConsistentEpochs{};
  }

  /// Whether each cohort still has as many of its ranks as it takes to make the others' data from theirs.
  [[nodiscard]] bool enough_left(const Placement& placement, const Shape& shape) const {
    std::vector<bool> there(static_cast<std::size_t>(shape.ranks));
    for (int rank = 0; rank < team_->size(); ++rank) {
      const int number = number_in(rank, shape);
      if (number >= 0) there[index(number)] = true;
    }
    return cohorts_suffice(placement, there);
  }

  static bool cohorts_suffice(const Placement& placement, const std::vector<bool>& there) {
    for (std::size_t rank = 0; rank < there.size(); ++rank) {
      const auto& cohort = placement.cohort(static_cast<int>(rank));
      const auto missing = std::count_if(cohort.begin(), cohort.end(), [&](int each) { return !there[index(each)]; });
      if (missing > placement.copies()) return false;
    }
    return true;
  }

  // What several ranks have of the records of one.
  static void add(CommittedEpochs& epochs, const std::vector<CommittedEpoch>& more) {
    if (!epochs) epochs.emplace();
    for (const CommittedEpoch& each : more) {
      const auto found = std::find_if(epochs->begin(), epochs->end(),
                                      [&](const CommittedEpoch& other) { return other.epoch == each.epoch; });
      if (found == epochs->end()) {
        epochs->push_back(each);
      } else if (each.deleted > found->deleted) {
        *found = each;
      }
    }
    std::sort(epochs->begin(), epochs->end(),
              [](const CommittedEpoch& a, const CommittedEpoch& b) { return a.epoch < b.epoch; });
  }

  [[nodiscard]] bool without_redundancy() const { return group_->parameters().policy.kind == Policy::Kind::local; }

  // Without redundancy, the others go on without what a dead rank had.
  static void drop_missing(std::vector<CommittedEpochs>& ranks) {
    std::erase_if(ranks, [](const CommittedEpochs& epochs) { return !epochs; });
  }

  // Kept until a rejoin has come to its end: one that is cut short may already have dropped what is lost.
  void note_loss(bool lost) {
    lost_ = lost_ || lost;
    group_->set_owes_loss_report(lost_);
  }

  /// Finds the snapshots that are left, and rebuilds what dead ranks had of them.
  ConsistentEpochs settle_snapshots() {
    const Placement& placement = group_->placement();
    std::vector<bool> present;
    for (int rank = 0; rank < team_->size(); ++rank) present.push_back(knows(rank));
    const auto own = exchange(group_->own_epochs());
    std::vector<CommittedEpochs> ranks(present.size());
    for (int copy = 0; copy < placement.copies(); ++copy) {
      const auto held = exchange(group_->held_epochs(copy));
      for (int rank = 0; rank < team_->size(); ++rank) {
        if (knows(placement.keeper(rank, copy))) {
          add(ranks[index(rank)], held[index(placement.keeper(rank, copy))]);
          note_copies(rank, copy, held[index(placement.keeper(rank, copy))]);
        }
      }
    }
    for (int rank = 0; rank < team_->size(); ++rank) {
      if (inherited_[index(rank)]) {
        // In the memory of a dead rank the last record may be without its seal, and nobody has looked for damage: what others have
        // of its records counts as well.
        add(ranks[index(rank)], own[index(rank)]);
      } else if (knows(rank) && hello(rank).lost_data == 0) {
        ranks[index(rank)] = own[index(rank)];
      }
    }
    unknown_ = std::any_of(ranks.begin(), ranks.end(), [](const CommittedEpochs& epochs) { return !epochs; });
    if (without_redundancy()) drop_missing(ranks);
    auto result = cohorts_suffice(placement, present) ? consistent_epochs(ranks) : ConsistentEpochs{};
    const bool had_common = (moved_ ? had_some_ : unknown_ || !some_had_none(ranks)) || !known_on_all_.none();
    note_loss(result.newest.none() && had_snapshots_ && archived_.none() && had_common);
    if (!result.newest.none() && result.newest < known_on_all_) {
      log().warn("group {}: the latest snapshot is lost, going back to time stamp {}", group_->parameters().id,
                 group_->parameters().start_time_stamp + static_cast<int>(result.newest.value) - 1);
    }
    const bool some_left = !result.epochs.empty();
    const bool inherited = inherited_[index(team_->rank())];
    if (group_->whole() || inherited) {
      group_->keep_only(result.epochs);
      fault_point("rejoin.voided");
      if (inherited) complete_inheritance(result, present);
    } else if (without_redundancy()) {
      if (some_left) group_->accept_loss();
    } else {
      std::erase_if(copies_, [&](const Group::RecordCopy& each) { return !contains(result.epochs, each.epoch); });
      (void)group_->rebuild_own(copies_, present);
    }
    rebuild_held(result);
    // From here on this rank is as good as one that survived, whatever happens to the others.
    if (!group_->whole()) {
      group_->set_whole();
      fault_point("rejoin.rebuilt");
    }
    note_loss(some_left && result.epochs.empty());
    return result;
  }

  /// What the memory that was taken over lacks is rebuilt.
  void complete_inheritance(const ConsistentEpochs& result, std::vector<bool> present) {
    present[index(team_->rank())] = false;
    const auto there = group_->own_epochs();
    std::erase_if(copies_, [&](const Group::RecordCopy& each) {
      return !contains(result.epochs, each.epoch) ||
             std::any_of(there.begin(), there.end(), [&](const auto& own) { return own.epoch == each.epoch; });
    });
    if (!copies_.empty()) (void)group_->rebuild_own(copies_, present);
  }

  /// Where the records of this rank can be had: of each epoch, one copy.
  void note_copies(int rank, int copy, const std::vector<CommittedEpoch>& held) {
    if (rank != team_->rank()) return;
    for (const CommittedEpoch& each : held) {
      const bool known = std::any_of(copies_.begin(), copies_.end(),
                                     [&](const Group::RecordCopy& other) { return other.epoch == each.epoch; });
      if (!known && each.deleted == 0) copies_.push_back({each.epoch, each.place, copy});
    }
  }

  static bool contains(const std::vector<Epoch>& epochs, Epoch epoch) {
    return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end();
  }

  /// Of what each rank has of its own now, what others keep for it is completed; leaves the epochs of which everything is there.
  void rebuild_held(ConsistentEpochs& result) {
    const Placement& placement = group_->placement();
    auto own = exchange(group_->own_epochs());
    std::vector<CommittedEpochs> at_owners;
    for (int copy = 0; copy < placement.copies(); ++copy) {
      at_owners.emplace_back(own[index(placement.kept(team_->rank(), copy))]);
    }
    const auto whole = group_->rebuild_held(result.epochs, at_owners);
    std::vector<CommittedEpoch> mine;
    const bool nothing_to_have = group_->has_lost_data();
    for (const Epoch epoch : whole) {
      const bool has_own = std::any_of(own[index(team_->rank())].begin(), own[index(team_->rank())].end(),
                                       [&](const CommittedEpoch& each) { return each.epoch == epoch; });
      if (has_own || nothing_to_have) mine.push_back({epoch, {}, 0, 0});
    }
    std::vector<CommittedEpochs> ranks;
    for (auto& epochs : exchange(mine)) ranks.emplace_back(std::move(epochs));
    result.epochs = consistent_epochs(ranks).epochs;
  }

  // True if some rank had no commit at all, so that there was no consistent snapshot to lose.
  static bool some_had_none(const std::vector<CommittedEpochs>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const CommittedEpochs& epochs) { return epochs && epochs->empty(); });
  }

  /// What each rank says, by rank.
  std::vector<std::vector<CommittedEpoch>> exchange(const std::vector<CommittedEpoch>& mine) {
    return team_->gather_lists(std::span<const CommittedEpoch>(mine));
  }

  /// Places of the log that has most.
  [[nodiscard]] std::uint32_t log_places() const {
    std::uint32_t most = group_->log_places();
    for (const Hello& each : hellos_) {
      if (!moved_) most = std::max(most, each.log_places);
    }
    return most;
  }

  [[nodiscard]] Generation next_generation() const {
    std::uint32_t newest = 0;
    for (const Hello& other : hellos_) newest = std::max(newest, other.generation);
    return {newest + 1};
  }

  [[nodiscard]] static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] const Hello& hello(int rank) const { return hellos_[index(rank)]; }
  [[nodiscard]] bool knows(int rank) const { return hello(rank).knows != 0 && !moved_; }

  std::unique_ptr<Group>& group_;
  GroupParameters wanted_;
  std::shared_ptr<Team> team_;
  std::shared_ptr<Path> path_;
  std::vector<Hello> hellos_;
  int teacher_ = 0;
  bool existed_ = false;
  std::vector<bool> inherited_;  // by rank: it has taken over the memory of a dead one
  bool is_replacement_ = false;
  bool moved_ = false;  // the team has another size or order than the one that stored
  bool had_snapshots_ = false;
  Epoch known_on_all_;     // the latest that some rank knows all to have committed
  bool unknown_ = false;   // some rank's commits cannot be found out
  bool had_some_ = false;  // every rank may have had a commit of what was put aside
  bool lost_ = false;
  bool shares_fate_ = false;
  std::vector<Group::RecordCopy> copies_;  // of this rank's records, if it has to be rebuilt
  Epoch archived_;                         // newest snapshot of what was put aside
};

}  // namespace

RejoinResult rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted,
                    const std::function<void()>& check_arguments, std::shared_ptr<Team> team,
                    const std::function<std::shared_ptr<Path>()>& choose_path) {
  return together(*team, [&] { return Rejoin(group, wanted, team).run(check_arguments, choose_path); });
}

}  // namespace fenix_impl
