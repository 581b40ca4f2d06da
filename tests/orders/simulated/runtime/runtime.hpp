// SPDX-License-Identifier: BSD-3-Clause
// Takes the place of src/runtime/runtime.hpp where the functions of the data interface are compiled for simulated ranks: each
// thread is a rank, and has a runtime of its own.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "interposition/interposer.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "recovery/groups/request_table.hpp"
#include "recovery/groups/storage/storage.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

/// Groups of one simulated rank, as GroupRegistry has those of a process.
class SimulatedGroups {
 public:
  /// How this rank reaches the others. Changes with each repair.
  std::shared_ptr<Team> team;
  std::function<std::shared_ptr<Path>()> make_path;

  [[nodiscard]] Group* find(int id) const;
  [[nodiscard]] Group& at(int id) const;
  [[nodiscard]] Group& attached(int id) const;
  RejoinResult create(const GroupParameters& parameters, MPI_Comm comm, const std::function<void()>& check);
  void remove(int id);
  void erase(int id) { groups_.erase(id); }
  [[nodiscard]] std::vector<int> ranks_of(int) const { return numbers(); }
  [[nodiscard]] std::vector<int> numbers() const;
  void detach_all();
  /// Returns those that have had a team.
  [[nodiscard]] std::vector<GroupRecovery> formed() const;

 private:
  std::map<int, std::unique_ptr<Group>> groups_;
  Generation highest_;
};

/// Stand-in for the processes of the job, as the functions see them, and for its parts.
class SimulatedProcess {
 public:
  explicit SimulatedProcess(const SimulatedGroups& groups) : groups_(groups) {}
  [[nodiscard]] const SimulatedProcess& comms() const { return *this; }
  [[nodiscard]] const SimulatedProcess& members() const { return *this; }
  [[nodiscard]] const SimulatedProcess& repair() const { return *this; }
  [[nodiscard]] static int count() { return 0; }
  [[nodiscard]] std::vector<int> roles() const { return groups_.numbers(); }
  [[nodiscard]] std::vector<int> ranks_of(MPI_Comm) const { return groups_.numbers(); }
  [[nodiscard]] static MPI_Group group_of(const std::vector<int>&) { return MPI_GROUP_EMPTY; }

 private:
  const SimulatedGroups& groups_;
};

class SimulatedTeams {
 public:
  explicit SimulatedTeams(const SimulatedGroups& groups) : groups_(groups) {}
  void withdraw_from(MPI_Comm) const { groups_.team->withdraw(); }

 private:
  const SimulatedGroups& groups_;
};

class NoRegionLogs {
 public:
  [[nodiscard]] static bool in_use() { return false; }
  static void meet_at_checkpoint() {}
  static void note_checkpoint(bool) {}
};

class SimulatedRuntime {
 public:
  struct Inside {
    Inside() { simulated_working_group() = nullptr; }
    ~Inside() {}
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };
  struct RepeatedCall {
    RepeatedCall() {}
    ~RepeatedCall() {}
  };

  bool failure_seen = false;  ///< a call was cut short by a death

  // Its parts are this object, too.
  [[nodiscard]] SimulatedRuntime& use() { return *this; }
  [[nodiscard]] SimulatedRuntime& gate() { return *this; }
  [[nodiscard]] SimulatedRuntime& detector() { return *this; }
  [[nodiscard]] SimulatedRuntime& policy() { return *this; }
  [[nodiscard]] SimulatedRuntime& failures() { return *this; }
  [[nodiscard]] SimulatedRuntime& continuation() { return *this; }

  static void require_ready() {}
  [[nodiscard]] static std::shared_lock<std::shared_mutex> begin_call() { return {}; }
  [[nodiscard]] const SimulatedProcess& process() const { return process_; }
  [[nodiscard]] SimulatedGroups& groups() { return groups_; }
  [[nodiscard]] const SimulatedTeams& teams() const { return teams_; }
  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] RequestTable& requests() { return requests_; }
  [[nodiscard]] static NoRegionLogs region_logs() { return {}; }
  [[nodiscard]] bool has_group(int id) const;
  [[nodiscard]] Group& group(int id) const { return groups_.at(id); }
  [[nodiscard]] Group& attached_group(int id) const { return groups_.attached(id); }
  [[nodiscard]] Group& working_group(int id) const;
  void make_consistent(int id);
  static void withdraw_from_call();
  [[nodiscard]] static bool comes_from_failure(int) { return false; }
  [[nodiscard]] static bool repeats_calls() { return false; }
  bool repair(int, int);
  static void resume(int, bool) {}

 private:
  static Group*& simulated_working_group();

  SimulatedGroups groups_;
  SimulatedProcess process_{groups_};
  SimulatedTeams teams_{groups_};
  Storage storage_;
  RequestTable requests_;
};

/// The last error that a public function returned in this thread.
struct LastError {
  std::string text;
  Place place;
};
LastError& last_error();

/// Returns that of the rank that this thread is.
SimulatedRuntime& simulated_runtime();
void set_simulated_runtime(SimulatedRuntime* of_this_thread);

}  // namespace fenix_impl

// The library itself has the other ones.
#define Runtime SimulatedRuntime
#define runtime simulated_runtime
