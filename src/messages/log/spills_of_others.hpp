// SPDX-License-Identifier: BSD-3-Clause
// The files in which the logs of other ranks go on, as this rank sees them. From a rank whose files it does not see, as they are on the disk of another
// node, it gets its messages at the repair, into files of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "messages/journal/log_spill.hpp"
#include "messages/journal/spill_reader.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class SpillsOfOthers {
 public:
  /// Calls take for the entries that a rank has for another one, until that says no.
  using Give = std::function<void(int reader, const TakeEntry& take)>;

  /// Forgets all files, and removes copies.
  void clear();
  /// Learns of the files of all ranks. own: nothing if this rank has none. wanted: files of its predecessor that this rank does not see.
  /// A rank that sees these sends the entries that is_wanted wants, and take gets them. Returns false if this rank has not got them.
  /// Collective. Throws as Team does.
  [[nodiscard]] bool meet(Team& team, LogSpill* own, int own_slot, const std::optional<SpillPlace>& wanted,
                          const std::function<bool(const Signature&)>& is_wanted, const TakeEntry& take);
  /// Has copies made of what the ranks with these slots have for this rank, if it does not see their files. give: what this rank
  /// has for others. Returns false if they could not be made. Collective. Throws as Team does.
  [[nodiscard]] bool fetch(Team& team, const std::set<int>& from, const Give& give);
  /// Returns what is in the files of a slot, for this rank; nothing if there are none. anew: looks for what has come since. Local.
  [[nodiscard]] std::shared_ptr<SpillReader> of(int slot, bool anew);

 private:
  /// A rank that sees the files of a dead one sends what is wanted of them to its successor, which may be this rank.
  [[nodiscard]] bool send_wanted(Team& team, const SpillPlace& of, bool is_mine,
                                 const std::function<bool(const Signature&)>& is_wanted, const TakeEntry& take);
  /// One rank sends entries to all, and those whom it concerns take them.
  static void send(Team& team, int root, const std::function<void(const TakeEntry&)>& give, const TakeEntry* take);

  LogSpill* own_ = nullptr;
  int own_slot_ = 0;
  bool are_any_ = false;
  std::map<int, int> ranks_;                             // by slot
  std::map<int, SpillPlace> places_;                     // by slot
  std::map<int, std::shared_ptr<SpillReader>> readers_;  // of those that have been looked into
  std::map<int, std::unique_ptr<LogSpill>> copies_;      // of what is in files that are not seen
  std::vector<SpillPlace> sent_;                         // of dead ranks, whose successors have got what was in them
};

}  // namespace fenix_impl
