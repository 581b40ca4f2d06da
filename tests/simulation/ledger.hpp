// SPDX-License-Identifier: BSD-3-Clause
// The reference model: which snapshots must and may be restorable. It knows the workload, the deaths, and what calls have
// returned; nothing of the library.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workload.hpp"

namespace fenix_simulation {

class Ledger {
 public:
  explicit Ledger(const Workload& plan);

  // Each returns what is wrong, or nothing.

  /// Another job begins, and has nothing in memory.
  void begin_job(int ranks, int first_process);
  std::string resumed(int process, int rank, int ranks);
  void begins_commit(int group, int rank, int step);
  void committed(int group, int rank, int step, bool barrier);
  std::string created(int group, int rank, int flag);
  std::string restored(int group, int rank, int step);
  std::string read_old(int group, int rank, int step);
  std::string agreed(int group, int rank, int step);
  void deletes(int group, int step, int older);
  void deleted(int group, int rank, int step);
  /// The program goes back to an older dataset.
  void goes_back(int group) { at(group).may_be_lost = true; }
  void died(int process);
  /// Returns false if the pages promise nothing any more: damage of several places, after a death, or on fewer ranks. point: has the bytes.
  [[nodiscard]] bool flipped(int process, std::string_view point);
  /// Returns whether the pages allow that data of a group is gone.
  [[nodiscard]] bool may_lose(int group) const { return groups_.at(static_cast<std::size_t>(group)).may_be_lost; }

  /// The same for what is from before the communicator shrank.
  [[nodiscard]] bool may_lose_old(int group) const { return archives_.at(static_cast<std::size_t>(group)).may_be_lost; }

  /// Returns the rank that a process has, or −1.
  [[nodiscard]] int rank_of(int process) const;
  /// Whether a rank may have nothing, as its group has no redundancy.
  [[nodiscard]] bool is_bare(int group, int rank) const;
  [[nodiscard]] bool has_shrunk() const { return has_shrunk_; }
  [[nodiscard]] int restores() const { return restores_; }
  [[nodiscard]] int repairs() const { return repairs_; }

 private:
  struct Group {
    std::vector<int> committed;            ///< by rank: the newest step whose commit has returned there
    int on_all = -1;                       ///< the newest step of which some rank knows that all have committed it
    int begun = -1;                        ///< the newest step whose commit has begun on some rank
    std::map<int, int> older;              ///< by a step that some rank deletes: the next older one, or −1
    std::map<int, std::set<int>> deleted;  ///< by step: ranks that have deleted it
    std::set<int> dead;                    ///< ranks whose data has not been rebuilt since their death
    std::set<int> whole;                   ///< ranks that have agreed since the latest death
    std::set<int> bare;                    ///< without redundancy: ranks that have committed nothing since their death
    bool may_be_lost = false;              ///< more have died than the policy covers
  };
  /// Snapshots from before the communicator shrank, by the old numbers.
  struct Archive {
    int ranks = 0;
    int least = -1;
    std::map<int, int> places;  ///< old numbers of processes
    std::set<int> dead;
    bool may_be_lost = false;
  };
  [[nodiscard]] static int least(const Group& group);
  /// Returns a step, or the newest older one that nobody deletes.
  [[nodiscard]] static int standing(const Group& group, int step);
  void shrink(int ranks);
  Group& at(int group) { return groups_.at(static_cast<std::size_t>(group)); }

  const Workload& plan_;
  int ranks_;
  std::map<int, int> places_;  ///< ranks of processes
  std::vector<Group> groups_;
  std::vector<Archive> archives_;
  bool has_shrunk_ = false;
  int flips_ = 0;
  int knows_better_ = -1;  ///< the rank whose own record is damaged, as long as it lives
  int restores_ = 0;
  int repairs_ = 0;
};

}  // namespace fenix_simulation
