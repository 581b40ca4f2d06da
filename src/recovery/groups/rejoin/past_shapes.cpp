// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/past_shapes.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "recovery/groups/rejoin/rank_order.hpp"

namespace fenix_impl {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

PastShapes::PastShapes(Team& team, Group& group, bool moved)
    : team_(team), group_(group), moved_(moved), pasts_(team.gather(past_of(group))) {
  for (const Past& each : pasts_) {
    if (!makes_sense(each)) throw Error(FENIX_ERROR_INTERN, "what a rank says of its group cannot be");
  }
}

PastShapes::Past PastShapes::past_of(Group& group) {
  Past past;
  if (group.ranks().size > 0) {
    past.knows = 1;
    past.lost_data = group.log().has_lost_data() ? 1 : 0;
    past.shape = group.recovery().shape();
    past.team_rank = group.ranks().rank;
  }
  if (const Archive* archive = group.recovery().archive(); archive != nullptr) {
    past.archive = archive->shape();
    past.archive_rank = archive->rank();
  }
  return past;
}

// Checks numbers that lead to sizes and indices.
bool PastShapes::makes_sense(const Past& past) {
  const auto is_number_in = [](int rank, const Shape& shape) {
    constexpr int kMostRanks = 1 << 24;
    return rank >= 0 && rank < shape.ranks && shape.ranks <= kMostRanks;
  };
  if (past.archive_rank >= 0 && !is_number_in(past.archive_rank, past.archive)) return false;
  return past.knows == 0 || is_number_in(past.team_rank, past.shape);
}

// A rejoin that was cut short may have put it aside on some ranks and not on others.
Epoch PastShapes::put_aside() {
  std::set<Shape> shapes;
  for (const Past& each : pasts_) {
    if (moved_ && each.knows != 0) shapes.insert(each.shape);
    if (each.archive_rank >= 0) shapes.insert(each.archive);
  }
  for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape) {
    const Placement placement = placement_of(*shape);
    auto readable = readable_epochs(*shape, placement);
    if (readable.epochs.empty()) continue;
    // It may have been done already, by a rejoin that was cut short right after it.
    const bool attached = moved_ && past(team_.rank()).knows != 0 && group_.recovery().shape() == *shape;
    if (attached && !has_put_aside(*shape)) group_.recovery().archive_snapshots();
    group_.recovery().keep_archive(*shape, placement, std::move(readable.epochs));
    return readable.newest;
  }
  return {};
}

/// Returns the number that a rank has in a shape of which it has kept something; negative if it has none.
int PastShapes::number_in(int rank, const Shape& shape) const {
  const Past& it = past(rank);
  if (moved_ && it.knows != 0 && it.shape == shape) return it.team_rank;
  return it.archive_rank >= 0 && it.archive == shape ? it.archive_rank : -1;
}

bool PastShapes::has_put_aside(const Shape& shape) const {
  const Archive* there = group_.recovery().archive();
  return there != nullptr && there->shape() == shape;
}

/// Returns the placement of a shape; some rank knows it.
Placement PastShapes::placement_of(const Shape& shape) {
  int knowing = 0;
  while (number_in(knowing, shape) < 0) ++knowing;
  const Placement& known = has_put_aside(shape) ? group_.recovery().archive()->placement() : group_.ranks().placement;
  auto order = share_rank_order(team_, knowing, shape.ranks, known.order());
  return {group_.parameters().policy, shape.ranks, std::move(order)};
}

/// Returns the snapshots of a shape of which everything can be had.
ConsistentEpochs PastShapes::readable_epochs(const Shape& shape, const Placement& placement) {
  const int self = number_in(team_.rank(), shape);
  const bool put_aside = past(team_.rank()).archive_rank >= 0 && past(team_.rank()).archive == shape;
  const std::int32_t id = group_.parameters().id;
  const auto exchange_if = [&](auto&& epochs) {
    const auto mine = self < 0 ? std::vector<CommittedEpoch>{} : epochs();
    return team_.gather_lists(std::span<const CommittedEpoch>(mine));
  };
  std::vector<CommittedEpochs> ranks(index(shape.ranks));
  std::set<int> missing;
  for (int number = 0; number < shape.ranks; ++number) missing.insert(missing.end(), number);
  for (int rank = 0; rank < team_.size(); ++rank) missing.erase(number_in(rank, shape));
  for (int copy = 0; copy < placement.copies(); ++copy) {
    const auto held = exchange_if([&] {
      return put_aside ? group_.recovery().archive()->held_epochs(id, copy) : group_.log().memory().held_epochs(copy);
    });
    for (int rank = 0; rank < team_.size(); ++rank) {
      const int number = number_in(rank, shape);
      if (number >= 0) add(ranks[index(placement.kept(number, copy))], held[index(rank)]);
    }
  }
  if (self >= 0 && !put_aside) group_.recovery().drop_overwritten();
  const auto own = exchange_if(
      [&] { return put_aside ? group_.recovery().archive()->own_epochs(id) : group_.log().memory().own_epochs(); });
  for (int rank = 0; rank < team_.size(); ++rank) {
    const int number = number_in(rank, shape);
    if (number >= 0 && past(rank).lost_data == 0) ranks[index(number)] = own[index(rank)];
  }
  CommonEpochs all;
  for (const CommittedEpochs& epochs : ranks) all.merge(CommonEpochs(epochs));
  had_some_ = had_some_ || all.some_unknown() || !all.some_had_none();
  // Without redundancy, the others go on without what a dead rank had.
  if (all.some_unknown() && group_.parameters().policy.has_redundancy()) return {};
  return placement.suffices_without(missing) ? all.consistent() : ConsistentEpochs{};
}

}  // namespace fenix_impl
