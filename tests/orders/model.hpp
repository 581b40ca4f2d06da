// SPDX-License-Identifier: BSD-3-Clause
// Model of what a program may expect: rules of the headers in include/, and nothing of the implementation.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "orders/values.hpp"

namespace fenix_orders {

/// No buffer has more elements.
inline constexpr int kMost = 40;
inline constexpr int kNone = -1;

/// A member in a snapshot of a rank.
struct Version {
  Elements elements;  ///< also older ones beyond the size of a member that is resizeable
  int size = 0;
};

struct Snapshot {
  int stamp = 0;
  bool deleted = false;
  std::map<int, Version> members;
};

/// A source buffer of a rank.
struct Source {
  std::vector<Value> values = std::vector<Value>(kMost);
  int kind = 0;
  int group = 0;
  bool is_frozen = false;  ///< it must stay as it is until the commit
  bool of_library = false;
  bool is_gone = false;  ///< the library has taken its memory back
};

/// A member on a rank.
struct OnRank {
  bool is_here = true;
  int count = 0;
  int buffer = kNone;
  bool is_claimed = true;  ///< the program has created or defined it, or set its buffer
  bool has_serializer = false;
  bool is_stored = false;
  Elements stored;
  Elements staged;
  int lent = kNone;          ///< memory of the snapshot under construction, which may be used
  std::vector<int> used_up;  ///< the same, no longer to be used, but of this snapshot
  std::vector<int> of_other_snapshots;

  [[nodiscard]] Elements known() const {
    Elements all = staged;
    all.insert(stored.begin(), stored.end());
    return all;
  }
  void store(const std::vector<int>& elements, const std::vector<Value>& values) {
    for (const int element : elements) {
      stored[element] = values[static_cast<std::size_t>(element)];
      staged.erase(element);
    }
  }
  void store_staged() {
    for (const auto& [element, value] : staged) stored[element] = value;
    staged.clear();
  }
  void use_up_memory() {
    if (lent != kNone) used_up.push_back(lent);
    lent = kNone;
  }
  void forget_work() {
    is_stored = false;
    stored.clear();
    staged.clear();
    use_up_memory();
    of_other_snapshots.insert(of_other_snapshots.end(), used_up.begin(), used_up.end());
    used_up.clear();
  }
};

struct Member {
  int id = 0;
  int kind = 0;
  bool is_fixed = false;      ///< it has been stored: count and datatype stay
  bool has_rejoined = false;  ///< it was there when the group was taken up with replacements
  bool is_allocated = false;
  bool is_unsure = false;  ///< stored before a repair, but in no snapshot: whether count and datatype stay is not said
  bool has_new_count = false;  ///< set since the creation, and not stored since
  std::vector<OnRank> on;

  /// Forgets memory that was given before: the member gets other memory.
  void move() {
    for (OnRank& each : on) {
      each.of_other_snapshots.clear();
      each.used_up.clear();
    }
  }
  /// All ranks know its count from here on. grows: stores may move it, as at depth −1.
  void settle(bool grows) {
    if (has_new_count || grows) move();
    has_new_count = false;
    is_fixed = true;
  }
  [[nodiscard]] bool is_resizeable() const {
    return std::all_of(on.begin(), on.end(), [](const OnRank& each) { return each.count == 0; });
  }
  [[nodiscard]] bool is_everywhere() const {
    return std::all_of(on.begin(), on.end(), [](const OnRank& each) { return each.is_here; });
  }
  template <class Condition>
  [[nodiscard]] bool some(Condition&& condition) const {
    return std::any_of(on.begin(), on.end(), condition);
  }
  /// Whether count and datatype have to stay because of what is under construction.
  [[nodiscard]] bool some_work() const {
    return some([](const OnRank& each) { return !each.staged.empty() || each.lent != kNone || each.is_stored; });
  }
  [[nodiscard]] bool some_staged() const {
    return some([](const OnRank& each) { return !each.staged.empty(); });
  }
};

struct Policy {
  int name = 0;
  std::vector<int> values;
  bool encodes = false;
  int losses = 1;
};

struct Group {
  int id = 0;
  int depth = 0;
  int next_stamp = 0;
  Policy policy;
  bool in_place = false;
  bool hashing = true;
  bool is_touched = false;      ///< something has been staged, stored or committed
  bool may_be_touched = false;  ///< no element has been staged by a call that stages
  std::vector<Member> members;
  std::vector<std::vector<Snapshot>> snapshots;  ///< by rank, oldest first
  bool has_committed = false;

  /// Whether the ranks agree on members: not if they have deleted different ones.
  [[nodiscard]] bool is_whole() const {
    return std::all_of(members.begin(), members.end(), [](const Member& each) { return each.is_everywhere(); });
  }
  [[nodiscard]] Member* find(int member) {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const Member& each) { return each.id == member; });
    return found == members.end() ? nullptr : &*found;
  }
  /// Returns the newest snapshot of a rank that it has not deleted, or null.
  [[nodiscard]] const Snapshot* latest(int rank) const { return at_most(rank, std::nullopt, {rank}); }
  /// Returns the newest snapshot that all of some ranks have, up to a time stamp, as it is on rank; or null.
  [[nodiscard]] const Snapshot* at_most(int rank, std::optional<int> stamp, const std::vector<int>& ranks) const;
  /// Returns the time stamps of a rank, newest first.
  [[nodiscard]] std::vector<int> stamps(int rank) const;
  void commit();
  /// Keeps what all ranks have, as a repair does and a barrier.
  void keep_consistent();
};

/// An asynchronous store, which all ranks have made.
struct Asked {
  int number = 0;
  int group = 0;
  std::vector<int> members;  ///< that there were then
  bool is_pending = true;
  bool may_be_cancelled = false;

  [[nodiscard]] bool is_of(int its_group, std::optional<int> its_member) const {
    return group == its_group &&
           (!its_member || std::find(members.begin(), members.end(), *its_member) != members.end());
  }
};

struct Model {
  int ranks = 0;
  std::map<int, Group> groups;
  std::vector<std::map<int, Source>> sources;  ///< by rank
  std::vector<Asked> asked;
  int next_number = 0;

  [[nodiscard]] std::vector<int> all_ranks() const {
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    return all;
  }
  Source& source(int rank, int buffer) { return sources[static_cast<std::size_t>(rank)].at(buffer); }
  [[nodiscard]] bool is_pending(int group, std::optional<int> member = {}) const {
    return std::any_of(asked.begin(), asked.end(),
                       [&](const Asked& each) { return each.is_pending && each.is_of(group, member); });
  }
  /// Other calls for the member wait for its requests.
  void settle(int group, std::optional<int> member = {}) {
    for (Asked& each : asked) {
      if (each.is_of(group, member)) each.is_pending = false;
    }
  }
  void unfreeze(const Group& group);
};

/// Result that a restore has to give.
struct Expected {
  Elements found;
  bool is_partial = false;
};
Expected restored(const Version& version, bool with_older, int max_count);

}  // namespace fenix_orders
