// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/rejoin.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/meeting.hpp"
#include "recovery/epoch_sets.hpp"

namespace fenix_impl {
namespace {

/// What each rank says of itself at the start.
struct Hello {
  std::int32_t knows = 0;          ///< it has the group, with all that was stored there
  std::int32_t has_snapshots = 0;  ///< it has committed, or holds what another rank has committed
  std::int32_t owes_report = 0;    ///< snapshots were lost, and the application has not been told yet
  std::uint32_t generation = 0;
  GroupParameters parameters;
  std::int32_t team_size = 0;
  std::int32_t team_rank = 0;
  std::uint64_t members = 0;
};

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
    (void)meet(*team_, Operation::group_memory, 0, 0, [&] { group_->take_memory(); });
    fault_point("rejoin.memory");
    group_->expose();
    fault_point("rejoin.exposed");
    const auto epochs = settle_snapshots();
    group_->resume(next_generation(), epochs);
    fault_point("rejoin.resumed");
    // Peers may publish progress when they have left this barrier: all boards are set by then.
    team_->barrier();
    group_->set_owes_loss_report(false);
    log().info("group {}: {} ranks, {} path, {} snapshots", group_->parameters().id, team_->size(), path_->name(),
               epochs.size());
    fault_point("rejoin.end");
    return {existed_, lost_};
  }

 private:
  void greet(const std::function<std::shared_ptr<Path>()>& choose_path) {
    if (group_ && !group_->whole()) group_.reset();
    const auto known = meet(*team_, Operation::group_create, static_cast<std::uint64_t>(wanted_.id), group_ ? 1 : 0,
                            [&] { path_ = choose_path(); });
    Hello hello{0, 0, 0, 0, wanted_, team_->size(), team_->rank(), 0};
    if (group_) {
      hello = {1,
               group_->own_epochs().empty() && group_->held_epochs().empty() ? 0 : 1,
               group_->owes_loss_report() ? 1 : 0,
               group_->generation().value,
               group_->parameters(),
               group_->team_size(),
               group_->team_rank(),
               group_->members().size()};
    }
    hellos_ = team_->gather(hello);
    for (const Hello& other : hellos_) {
      had_snapshots_ = had_snapshots_ || other.has_snapshots != 0;
      lost_ = lost_ || other.owes_report != 0;
    }
    existed_ = std::find(known.begin(), known.end(), std::uint64_t{1}) != known.end();
    fault_point("rejoin.greeted");
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
      if (other.knows != 0 && (other.team_size != team_->size() || other.team_rank != rank)) moved_ = true;
    }
    if (!group_) {
      group_ = std::make_unique<Group>(agreed);
      // Without earlier ranks there is nothing to be rebuilt.
      if (!existed_) group_->set_whole();
    }
  }

  void settle_members() {
    group_->set_team(team_, path_);
    if (!existed_) return;
    if (moved_) {
      // Ranks have other numbers now: nobody's slots and cohort are what they were. In one with set_team, so that no failure
      // comes between them.
      note_loss(had_snapshots_);
      group_->forget_snapshots();
      group_->set_whole();
    }
    std::vector<MemberInfo> infos;
    for (const auto& member : group_->members()) infos.push_back(member->info);
    infos.resize(hello(teacher_).members);
    team_->broadcast(std::as_writable_bytes(std::span(infos)), teacher_);
    // The teacher's order, on all ranks: what is done for one member after the other meets its like on the other ranks.
    group_->arrange_members(infos);
    for (const MemberInfo& info : infos) settle_counts(info);
  }

  // Each rank tells its own count. For those that do not know it, the teacher may: as a rule every rank knows the counts of
  // all. A member that has a count that nobody knows any more is dropped.
  void settle_counts(const MemberInfo& info) {
    struct Count {
      std::uint64_t elements = 0;
      std::uint64_t known = 0;
    };
    const auto ranks = static_cast<std::size_t>(team_->size());
    const Member* member = group_->find(info.id);
    auto counts = team_->gather(member != nullptr ? Count{member->own_count, 1} : Count{});
    std::vector<Count> taught(ranks);
    if (member != nullptr && member->counts.size() == ranks) {
      std::transform(member->counts.begin(), member->counts.end(), taught.begin(), [](std::uint64_t elements) {
        return Count{elements, 1};
      });
    }
    team_->broadcast(std::as_writable_bytes(std::span(taught)), teacher_);
    std::vector<std::uint64_t> elements;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Count& count = counts[rank].known != 0 ? counts[rank] : taught[rank];
      if (count.known != 0) elements.push_back(count.elements);
    }
    if (elements.size() == ranks) {
      group_->adopt_member(info, std::move(elements));
    } else {
      group_->drop_member(info.id);
    }
  }

  // Kept until a rejoin has come to its end: one that is cut short may already have dropped what is lost.
  void note_loss(bool lost) {
    lost_ = lost_ || lost;
    group_->set_owes_loss_report(lost_);
  }

  /// Finds the snapshots that are left, and rebuilds what dead ranks had of them.
  std::vector<Epoch> settle_snapshots() {
    const auto own = exchange(group_->own_epochs());
    const auto held = exchange(group_->held_epochs());
    std::vector<CommittedEpochs> ranks;
    const Pairing pairing(team_->size(), separation());
    for (int rank = 0; rank < team_->size(); ++rank) {
      const int holder = pairing.holder_of(rank);
      if (knows(rank)) {
        ranks.emplace_back(own[index(rank)]);
      } else if (knows(holder)) {
        ranks.emplace_back(held[index(holder)]);
      } else {
        ranks.emplace_back(std::nullopt);
        unknown_ = true;
      }
    }
    auto epochs = consistent_epochs(ranks, group_->parameters().depth);
    note_loss(epochs.empty() && had_snapshots_ && (unknown_ || !some_had_none(ranks)));
    const bool some_left = !epochs.empty();
    if (group_->whole()) {
      group_->keep_only(epochs);
      fault_point("rejoin.voided");
    } else {
      const auto rebuilt = group_->rebuild(epochs);
      // From here on this rank is as good as one that survived, whatever happens to the others.
      group_->set_whole();
      fault_point("rejoin.rebuilt");
      epochs = rebuilt;
    }
    const auto left = exchange(epochs);
    const auto result = consistent_epochs({left.begin(), left.end()}, group_->parameters().depth);
    note_loss(some_left && result.empty());
    return result;
  }

  // True if some rank had no commit at all, so that there was no consistent snapshot to lose.
  static bool some_had_none(const std::vector<CommittedEpochs>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const CommittedEpochs& epochs) { return epochs && epochs->empty(); });
  }

  /// The epochs of each rank.
  std::vector<std::vector<Epoch>> exchange(std::vector<Epoch> mine) {
    const std::size_t places = group_->log_places();
    mine.resize(places);
    const auto all = team_->gather(std::span<const Epoch>(mine));
    std::vector<std::vector<Epoch>> ranks;
    for (int rank = 0; rank < team_->size(); ++rank) {
      auto& epochs = ranks.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(index(rank) * places),
                                        all.begin() + static_cast<std::ptrdiff_t>((index(rank) + 1) * places));
      std::erase_if(epochs, [](Epoch epoch) { return epoch.none(); });
    }
    return ranks;
  }

  [[nodiscard]] Generation next_generation() const {
    std::uint32_t newest = 0;
    for (const Hello& other : hellos_) newest = std::max(newest, other.generation);
    return {newest + 1};
  }

  [[nodiscard]] int separation() const {
    return std::min(group_->parameters().separation, std::max(team_->size() - 1, 1));
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
  bool moved_ = false;  // the team has another size or order than the one that stored
  bool had_snapshots_ = false;
  bool unknown_ = false;  // some rank's commits cannot be found out
  bool lost_ = false;
};

}  // namespace

RejoinResult rejoin(std::unique_ptr<Group>& group, const GroupParameters& wanted,
                    const std::function<void()>& check_arguments, std::shared_ptr<Team> team,
                    const std::function<std::shared_ptr<Path>()>& choose_path) {
  return Rejoin(group, wanted, std::move(team)).run(check_arguments, choose_path);
}

}  // namespace fenix_impl
