// SPDX-License-Identifier: BSD-3-Clause
// One use of SCR, from SCR_Init to SCR_Finalize: the order of calls, and the data group in which checkpoints are.
#pragma once

#include <fenix.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scr/cache.hpp"
#include "scr/index.hpp"
#include "scr/package.hpp"
#include "scr/parameters.hpp"
#include "scr/prefix.hpp"
#include "scr/settings.hpp"

namespace scr_impl {

struct SharedFiles;

class Session {
 public:
  enum class State { before, idle, output, checkpoint, restart };

  Parameters& parameters() { return parameters_; }
  [[nodiscard]] State state() const { return state_; }

  // Each returns whether it succeeded. The collective ones return the same on all ranks, unless a rank has died.

  /// Begins. repaired: where the resilient communicator is written to, or null.
  bool begin(MPI_Comm* repaired);
  bool end();

  bool should_exit(int* flag);
  bool need_checkpoint(int* flag);
  bool route(const char* name, char* file);

  bool have_restart(int* flag, char* name);
  bool start_restart(char* name);
  bool complete_restart(bool is_valid);

  /// wanted: State::output or State::checkpoint, which have to be completed as such.
  bool start_output(const char* name, int flags, State wanted);
  bool complete_output(bool is_valid, State wanted);

  bool set_current(const char* name);
  /// files_stay: those below the prefix folder are left where they are.
  bool remove(const char* name, bool files_stay);

  /// Says why a call is refused, on standard error. Returns false.
  [[nodiscard]] bool refuse(const std::string& why) const;

 private:
  /// The latest checkpoint that this job has committed.
  struct Kept {
    PackageHead head;
    std::vector<std::string> files;  // below the prefix folder; known to rank 0
    int time_stamp = -1;
    bool is_flushed = false;
  };

  static void note_repair(MPI_Comm comm, int error, void* session);
  /// Has rank 0 read the parameters, and tells them to all.
  bool settle_parameters();
  bool prepare();
  bool begin_fenix();
  [[nodiscard]] bool is(State wanted, const char* call) const;
  /// Creates the group at the beginning and after each repair. Collective.
  bool form();
  bool read_index();
  /// Removes all datasets if SCR_PREFIX_PURGE says so, and if this run may write to the store. Collective.
  bool purge_if_told();
  [[nodiscard]] bool remove_all() const;
  /// Ends the process, if SCR_HALT_EXIT is set and the job is told to end. Collective.
  void exit_if_told();
  /// Says something if SCR_DEBUG is set. Returns false.
  [[nodiscard]] bool tell(const std::string& why) const;
  /// Says it once, on rank 0. Returns false.
  [[nodiscard]] bool refuse_together(const std::string& why) const;
  /// Says why a call of Fenix has failed. A program that repairs itself expects it, after a death. Returns false.
  [[nodiscard]] bool fail(const std::string& what) const;

  // Outputs. Collective.
  bool agree_on_start(const std::string& name, int flags);
  bool put_in_place(const SharedFiles& shared);
  bool put_copies(const SharedFiles& shared);
  bool record(const PackageHead& head, const std::vector<std::string>& files);
  bool keep(const SharedFiles& shared);
  bool flush_if_due();
  bool flush(bool in_background);
  bool end_background_flush();
  /// Tells on this rank whether what is flushed in the background has an end: it is in the store, or has failed.
  [[nodiscard]] bool has_flush_ended() const;
  void free_current();
  void tidy(const PackageHead& newest);
  void prune(const PackageHead& newest) const;
  void remove_entry(const IndexEntry& entry, bool files_stay) const;
  /// Deletes the snapshots of a dataset: it must come back neither in this job, nor from memory that is kept for the next one.
  bool forget_snapshots(const std::string& name);
  /// Drops the files of a dataset, which has ended.
  void rest();
  [[nodiscard]] std::string route_in_restart(const std::string& name) const;

  // Restarts. Collective.
  void find_restart();
  bool fetch(const std::string& stored);
  /// Reads the head of a snapshot. Returns nothing if this rank cannot.
  static std::optional<PackageHead> head_of(int time_stamp);
  bool examine();
  /// Tells whether the list of datasets says that no job begins with it. Rank 0 knows.
  [[nodiscard]] bool is_withdrawn(const PackageHead& head) const;
  bool examine_files(const PackageHead& head);
  [[nodiscard]] std::string next_older();
  void apply_current();
  bool choose(const std::string& name);
  void drop_later(std::uint64_t id) const;

  Parameters parameters_;
  Settings settings_;
  Prefix prefix_;
  Index index_;
  Cache cache_;
  State state_ = State::before;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm* repaired_ = nullptr;
  bool is_disabled_ = false;      // SCR_ENABLE is 0
  bool is_formed_ = false;        // the group is there
  bool is_broken_ = false;        // a rank has died, and the program does not repair itself
  bool is_current_free_ = false;  // the next job begins with the newest dataset
  bool frees_current_ = false;    // so it will be when the flush in the background has succeeded

  bool is_searched_ = false;            // whether there is a checkpoint to go on from is known
  std::optional<PackageHead> restart_;  // this one
  std::vector<ListedFile> listed_;      // its files in their own places
  std::string chosen_;                  // the dataset that SCR_Current has chosen
  std::set<std::pair<std::uint64_t, std::uint64_t>>
      refused_;                            // numbers and times of those that the program could not use
  std::set<std::string> tried_;            // datasets of the store that were fetched; known to rank 0
  std::uint64_t older_than_ = UINT64_MAX;  // datasets with this number and larger ones are no choice

  PackageHead dataset_;               // the one that is written
  std::vector<ListedFile> in_place_;  // its files in their own places
  std::uint64_t datasets_ = 0;        // number of the latest dataset
  std::uint64_t checkpoints_ = 0;     // number of the latest checkpoint
  std::uint64_t known_datasets_ = 0;  // the largest numbers that the prefix folder has
  std::uint64_t known_checkpoints_ = 0;
  std::optional<Kept> kept_;
  std::map<int, std::string>
      committed_;                   // datasets of the snapshots of this job, by time stamps; the same on all ranks
  std::set<std::string> replaced_;  // names that had another dataset before; known to rank 0
  std::optional<Kept> flushing_;    // what is flushed in the background
  Fenix_Request request_ = FENIX_REQUEST_NULL;
};

/// The only one of this process.
Session& session();

/// Copies a name to a buffer of SCR_MAX_FILENAME bytes, or to none.
void put_name(const std::string& name, char* to);

}  // namespace scr_impl
