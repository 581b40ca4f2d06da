// SPDX-License-Identifier: BSD-3-Clause
// Requests, commits, deletions of snapshots.
#include <thread>

#include "orders/picked.hpp"
#include "orders/plan.hpp"

namespace fenix_orders {

// ------------------------------------------------------------------------------------------------------------ requests

void Planner::wait_for(Asked& asked, bool tests) {
  for (const int rank : model_.all_ranks()) {
    add(
        rank,
        [&] {
          return std::string(tests ? "Fenix_Data_test" : "Fenix_Data_wait") + "(request " + number(asked.number) + ")" +
                 (tests ? " until it is complete" : "");
        },
        [number = asked.number, may = asked.may_be_cancelled, tests](Real& real) {
          const auto found = real.requests.find(number);
          if (found == real.requests.end()) return std::string();  // of a rank that has died
          int flag = tests ? 0 : 1;
          int code = tests ? FENIX_SUCCESS : Fenix_Data_wait(found->second);
          while (flag == 0 && code == FENIX_SUCCESS) {
            code = Fenix_Data_test(found->second, &flag);
            std::this_thread::yield();
          }
          if (may && code == FENIX_ERROR_CANCELLED) return std::string();
          return expect_code(tests ? "test" : "wait", code, FENIX_SUCCESS);
        });
  }
  asked.is_pending = false;
}

void Planner::wait() {
  if (model_.asked.empty()) return;
  const auto which = static_cast<std::size_t>(random_.below(static_cast<int>(model_.asked.size())));
  wait_for(model_.asked[which], random_.one_in(2));
  if (random_.one_in(2)) model_.asked.erase(model_.asked.begin() + static_cast<std::ptrdiff_t>(which));
}

void Planner::finish_requests(int group, std::optional<int> member) {
  for (Asked& each : model_.asked) {
    if (each.is_pending && each.is_of(group, member)) wait_for(each, random_.one_in(2));
  }
}

// ------------------------------------------------------------------------------------------------------------- commits

void Planner::commit_on_all(Group& group, int form) {
  static constexpr const char* names[] = {"commit", "commit_barrier", "commit_cleanup"};
  for (const int rank : model_.all_ranks()) {
    add(
        rank,
        [&] {
          return std::string("Fenix_Data_") + names[form] + "(" + number(group.id) +
                 ", &stamp): " + number(group.next_stamp);
        },
        [id = group.id, form, expected = group.next_stamp](Real&) {
          int stamp = kNone;
          const int code = form == 0   ? Fenix_Data_commit(id, &stamp)
                           : form == 1 ? Fenix_Data_commit_barrier(id, &stamp)
                                       : Fenix_Data_commit_cleanup(id, &stamp);
          if (code == FENIX_SUCCESS && stamp != expected)
            return "the time stamp is " + number(stamp) + " instead of " + number(expected);
          return expect_code(names[form], code, FENIX_SUCCESS);
        });
  }
  for (auto& steps : phase_->steps) steps.back().commits = true;
  group.commit();
  model_.unfreeze(group);
}

void Planner::commit(Group& group) {
  finish_requests(group.id, {});
  const auto staged_on = [&](int rank) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](const Member& each) { return !each.on[static_cast<std::size_t>(rank)].staged.empty(); });
  };
  const auto ranks = model_.all_ranks();
  if (random_.one_in(6) && std::all_of(ranks.begin(), ranks.end(), staged_on)) {
    for (const int rank : ranks) {
      add(
          rank, [&] { return "Fenix_Data_commit(" + number(group.id) + ", IGNORE) = FENIX_ERROR_INVALID_LOGIC_CALL"; },
          [id = group.id](Real&) {
            return expect_code("commit", Fenix_Data_commit(id, FENIX_TIME_STAMP_IGNORE),
                               FENIX_ERROR_INVALID_LOGIC_CALL);
          });
    }
    return;
  }
  for (Member& member : group.members) {
    if (member.some_staged()) store(group, member, false, true);
  }
  commit_on_all(group, random_.below(3));
}

// ----------------------------------------------------------------------------------------------------------- snapshots

void Planner::delete_snapshot(Group& group) {
  // Snapshots older than depth may come up again where ranks are not known to have the newest. After the deletion on one rank, they would
  // go on from different snapshots without the barrier.
  barrier(group);
  const bool on_one = random_.one_in(3);
  const int alone = random_.below(model_.ranks);
  const bool all = random_.one_in(5);
  const auto stamps = group.stamps(alone);
  const int stamp = all              ? FENIX_DATA_SNAPSHOT_ALL
                    : stamps.empty() ? group.next_stamp
                                     : stamps[static_cast<std::size_t>(random_.below(static_cast<int>(stamps.size())))];
  for (const int rank : model_.all_ranks()) {
    if (on_one && rank != alone) continue;
    const int expected = group.stamps(rank).empty() ? FENIX_ERROR_NODATA_FOUND : FENIX_SUCCESS;
    add(
        rank,
        [&] {
          return "Fenix_Data_snapshot_delete(" + number(group.id) + ", " + number(stamp) + ") = " + number(expected);
        },
        [id = group.id, stamp, expected](Real&) {
          return expect_code("snapshot_delete", Fenix_Data_snapshot_delete(id, stamp), expected);
        });
    for (Snapshot& each : group.snapshots[static_cast<std::size_t>(rank)])
      each.deleted = each.deleted || all || each.stamp == stamp;
  }
  if (on_one) barrier(group);
  for (Member& member : group.members) {
    const auto has_it = [&](int rank) {
      const Snapshot* latest = group.latest(rank);
      return latest != nullptr && latest->members.count(member.id) != 0;
    };
    const auto ranks = model_.all_ranks();
    if (member.has_rejoined && !std::all_of(ranks.begin(), ranks.end(), has_it)) member.is_unsure = member.is_fixed;
  }
}

void Planner::barrier(Group& group) {
  for (const int rank : model_.all_ranks()) {
    add(
        rank, [&] { return "Fenix_Data_barrier(" + number(group.id) + ")"; },
        [id = group.id](Real&) { return expect_code("barrier", Fenix_Data_barrier(id), FENIX_SUCCESS); });
  }
  group.keep_consistent();
}

void Planner::cleanup(Group& group) {
  for (const int rank : model_.all_ranks()) {
    add(
        rank, [&] { return "Fenix_Data_cleanup(" + number(group.id) + ")"; },
        [id = group.id](Real&) { return expect_code("cleanup", Fenix_Data_cleanup(id), FENIX_SUCCESS); });
  }
}

}  // namespace fenix_orders
