// SPDX-License-Identifier: BSD-3-Clause
// How a job finds the checkpoint to go on from, and reads it.
#include <scr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "scr/file_copy.hpp"
#include "scr/ranks.hpp"
#include "scr/session.hpp"
#include "scr/stored.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

/// Reads what this rank has of the snapshot in memory. Collective.
std::optional<std::vector<std::byte>> restore_package(const PackageHead& head) {
  std::vector<std::byte> bytes;
  bool is_good = true;
  try {
    bytes.resize(kHeadBytes + head.bytes);
  } catch (const std::exception&) {
    is_good = false;
  }
  // A rank without memory takes part all the same.
  const int code = Fenix_Data_member_restore_c(kGroup, kFiles, is_good ? bytes.data() : nullptr,
                                               is_good ? static_cast<MPI_Count>(bytes.size()) : 0,
                                               FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  return is_good && code == FENIX_SUCCESS ? std::optional(std::move(bytes)) : std::nullopt;
}

/// Names what ends with this launch of the job: an allocation, or a run of fenix-run. Empty: mpirun alone.
std::string launch_of_job() {
  for (const char* variable : {"SCR_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != 0) return std::string(variable) + "=" + value;
  }
  return {};
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------- choice

// The group has the newest one, in memory or from the store. Then come older ones of the store.
void Session::find_restart() {
  if (is_searched_) return;
  is_searched_ = true;
  restart_.reset();
  // A dataset that was fetched for an earlier search may have given way to a checkpoint that has been removed since.
  tried_.clear();
  if (settings_.fetches) apply_current();
  const std::string chosen = std::exchange(chosen_, {});
  if (!chosen.empty() && settings_.fetches && fetch(chosen) && examine()) return;
  if (chosen.empty() && examine()) return;
  if (!settings_.fetches) return;
  while (is_formed_) {
    const std::string next = next_older();
    if (next.empty() || (fetch(next) && examine())) return;
  }
}

bool Session::fetch(const std::string& stored) {
  if (rank_of(comm_) == 0) tried_.insert(stored);
  committed_.clear();
  return Fenix_Data_fetch(kGroup, stored.c_str(), nullptr) == FENIX_SUCCESS;
}

std::optional<PackageHead> Session::head_of(int time_stamp) {
  std::array<std::byte, kHeadBytes> bytes{};
  const int code = Fenix_Data_member_restore(kGroup, kFiles, bytes.data(), static_cast<int>(bytes.size()), time_stamp,
                                             FENIX_DATA_SUBSET_IGNORE);
  return code == FENIX_SUCCESS ? read_head(bytes) : std::nullopt;
}

// Looks whether all ranks can use what the group has.
bool Session::examine() {
  const auto head = head_of(FENIX_DATA_SNAPSHOT_LATEST);
  if (!is_formed_) return false;
  bool is_good = head && (head->flags & SCR_FLAG_CHECKPOINT) != 0 && !refused_.contains({head->id, head->created});
  if (is_good && rank_of(comm_) == 0) is_good = !is_withdrawn(*head);
  if (!agree(comm_, is_good)) return false;
  if (head->is_list && !examine_files(*head)) return false;
  restart_ = head;
  return true;
}

bool Session::is_withdrawn(const PackageHead& head) const {
  const auto entry = index_.get(head.name);
  if (entry) return entry->has_failed && entry->created == head.created;
  // Checkpoints that are in memory alone have no entry yet. Others have lost theirs when they were removed.
  return (head.is_list || (head.flags & SCR_FLAG_OUTPUT) != 0) && index_.lacks(head.name);
}

// Each file is looked at by one rank.
bool Session::examine_files(const PackageHead& head) {
  const auto bytes = restore_package(head);
  auto files = bytes ? unpack_list(*bytes) : std::nullopt;
  bool is_good = files.has_value();
  for (std::size_t i = 0; is_good && i < files->size(); ++i) {
    const ListedFile& file = (*files)[i];
    if (!file.is_own) continue;
    const auto seal = seal_file(prefix_.folder() / file.name, false);
    is_good = seal && seal->size == file.seal.size && seal->hash == file.seal.hash;
    if (!is_good) (void)refuse("checkpoint " + head.name + ": " + file.name + " is not as it was written");
  }
  if (!agree(comm_, is_good)) {
    older_than_ = std::min(older_than_, head.id);
    return false;
  }
  listed_ = std::move(*files);
  return true;
}

// Rank 0 knows the index, and what the store has.
std::string Session::next_older() {
  std::string next;
  if (rank_of(comm_) == 0) {
    for (const StoredDataset& each : stored_datasets()) {
      const auto entry = index_.with_label(each.label);
      const bool is_other = entry && (entry->has_failed || entry->ranks != size_of(comm_) || entry->id >= older_than_);
      if (is_other || tried_.contains(each.name)) continue;
      next = each.name;
      break;
    }
  }
  return broadcast(comm_, next) ? next : "";
}

// SCR_CURRENT counts once in a launch: a program that is started again must not begin there each time.
void Session::apply_current() {
  const std::string name = std::exchange(settings_.current, {});
  // A rank that has taken the place of another one has none.
  if (!agree(comm_, !name.empty())) return;
  bool is_due = true;
  if (rank_of(comm_) == 0) {
    const std::string launch = launch_of_job();
    const fs::path mark = prefix_.folder() / kControlFolder / "current";
    const std::string text = launch + "\n" + name + "\n";
    is_due = launch.empty() || read_own_file(mark) != text;
    if (is_due && !launch.empty() && !write_durably(mark, text)) (void)refuse(mark.string() + " cannot be written");
  }
  if (agree(comm_, is_due) && !choose(name)) {
    (void)refuse_together("SCR_CURRENT: there is no checkpoint " + name + " in the store");
  }
}

// --------------------------------------------------------------------------------------------------------- reading

bool Session::have_restart(int* flag, char* name) {
  if (flag == nullptr) return refuse("SCR_Have_restart without a flag");
  *flag = 0;
  if (!is(State::idle, "SCR_Have_restart") || !form()) return false;
  find_restart();
  if (!is_formed_) return false;
  *flag = restart_ ? 1 : 0;
  if (restart_) put_name(restart_->name, name);
  return true;
}

bool Session::start_restart(char* name) {
  if (!is(State::idle, "SCR_Start_restart") || !form()) return false;
  find_restart();
  if (!is_formed_) return false;
  if (!restart_) return refuse_together("SCR_Start_restart: there is no checkpoint to go on from");
  const PackageHead head = *restart_;
  bool is_good = true;
  if (head.is_list) {
    cache_.open_in_place(prefix_.folder());
    for (const ListedFile& each : listed_) cache_.note(each.name);
  } else {
    const auto bytes = restore_package(head);
    if (!is_formed_) return false;
    is_good = bytes && cache_.open() && unpack(*bytes, cache_);
  }
  state_ = State::restart;
  if (!agree(comm_, is_good)) {
    if (is_formed_) (void)refuse_together("checkpoint " + head.name + ": some rank cannot unpack its files");
    // Ranks agree on it once more, and go to an older one.
    return complete_restart(false);
  }
  put_name(head.name, name);
  return true;
}

std::string Session::route_in_restart(const std::string& name) const {
  const auto is_readable = [](const fs::path& path) { return !path.empty() && ::access(path.c_str(), R_OK) == 0; };
  const auto relative = prefix_.relative(name.c_str());
  // Ranks may read files that others have written.
  if (cache_.is_in_place() && relative && is_readable(prefix_.folder() / *relative)) {
    return (prefix_.folder() / *relative).string();
  }
  const fs::path path = cache_.find(relative.value_or(fs::path(name).filename().string()));
  return is_readable(path) ? path.string() : "";
}

bool Session::complete_restart(bool is_valid) {
  if (!is(State::restart, "SCR_Complete_restart")) return false;
  const bool all_are = agree(comm_, is_valid);
  rest();
  if (!is_formed_ || !restart_) return false;
  const PackageHead head = *std::exchange(restart_, std::nullopt);
  is_searched_ = false;
  if (all_are) {
    datasets_ = head.id;
    checkpoints_ = head.count;
    return true;
  }
  refused_.insert({head.id, head.created});
  older_than_ = std::min(older_than_, head.id);
  // Later jobs must not begin with it either.
  if (rank_of(comm_) == 0) {
    IndexEntry entry = index_.get(head.name).value_or(IndexEntry{});
    if (entry.created != head.created) entry = {head.id, head.count, head.flags, head.created, 0, false, head.name, {}};
    entry.ranks = size_of(comm_);
    entry.has_failed = true;
    if (!index_.put(entry)) (void)refuse("checkpoint " + head.name + ": that it has failed cannot be written");
    (void)Fenix_Data_dataset_set_current(nullptr);
  }
  return false;
}

}  // namespace scr_impl
