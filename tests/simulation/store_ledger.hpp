// SPDX-License-Identifier: BSD-3-Clause
// The reference model of the store: what a later job must find, and what it may find. It knows commits, what the library has told,
// and what the disk has done; nothing of the library.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workload.hpp"

namespace fenix_simulation {

class StoreLedger {
 public:
  explicit StoreLedger(const Workload& plan) : plan_(plan), groups_(plan.groups.size()) {}

  // Each returns what is wrong, or nothing.

  void begins_commit(int group, int step, std::int64_t attempt);
  void committed(int group, int rank, int step, std::int64_t attempt, bool on_all);
  /// A job is over. all_died: no rank has come to its end, no keeper has died, and nothing but the end of the job has gone wrong.
  void end_job(int ranks, bool all_died);
  /// The library has told that a snapshot is in the store, whole.
  void told(int group, int step, std::int64_t attempt, bool by_name);
  /// All ranks ask after a commit whether to fetch a dataset that was flushed by name, and get the same answer: its step, or −1.
  int step_to_fetch(int group, int step, std::int64_t attempt);
  /// Returns what is wrong with a dataset that was fetched by the name of a step. step −1: none was found.
  std::string fetched(int group, int wanted, int step, std::int64_t attempt);
  /// Ranks have got a snapshot. step −1: nothing. promised: what the disk, and deaths of this job, have left of the promises.
  enum class Promised : std::uint8_t { nothing, store, memory };
  std::string restored(int group, int step, std::int64_t attempt, Promised promised) const;
  [[nodiscard]] bool has_told(int group) const { return at(group).told >= 0; }

 private:
  struct Group {
    std::map<std::pair<int, std::int64_t>, int> begun;    ///< the order of commits, by step and attempt
    int told = -1;                                        ///< the newest one that was told to be in the store
    int kept = -1;                                        ///< the newest one that keepers have, or have written
    std::map<int, int> named;                             ///< the newest one by name, by step
    std::map<std::pair<int, std::int64_t>, int> fetches;  ///< answers, by the commit after which they were given
    bool has_fetched = false;                             ///< in this job
    std::map<int, int> committed;                         ///< by rank of the job
    int on_all = -1;                                      ///< the newest one that all ranks have, as some rank knows

    void go_back_to(int order);
  };
  Group& at(int group) { return groups_.at(static_cast<std::size_t>(group)); }
  [[nodiscard]] const Group& at(int group) const { return groups_.at(static_cast<std::size_t>(group)); }

  const Workload& plan_;
  std::vector<Group> groups_;
};

}  // namespace fenix_simulation
