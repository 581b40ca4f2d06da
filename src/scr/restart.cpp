// SPDX-License-Identifier: BSD-3-Clause
#include "scr/restart.hpp"

#include <scr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "scr/file_copy.hpp"
#include "scr/kind.hpp"
#include "scr/patience.hpp"
#include "scr/stored.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

/// Reads what this rank has of a snapshot in memory. Collective.
std::optional<std::vector<std::byte>> restore_package(const PackageHead& head, int time_stamp) {
  std::vector<std::byte> bytes;
  bool is_good = true;
  try {
    bytes.resize(kHeadBytes + head.bytes);
  } catch (const std::exception&) {
    is_good = false;
  }
  // A rank without memory takes part all the same.
  const int code = Fenix_Data_member_restore_c(kGroup, kFiles, is_good ? bytes.data() : nullptr,
                                               is_good ? static_cast<MPI_Count>(bytes.size()) : 0, time_stamp,
                                               FENIX_DATA_SUBSET_IGNORE);
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

void Restart::search_anew() {
  is_searched_ = false;
  head_.reset();
}

void Restart::clear() {
  search_anew();
  chosen_.clear();
  refused_.clear();
  tried_.clear();
  allow_older();
}

bool Restart::find() {
  if (is_searched_) return true;
  is_searched_ = true;
  head_.reset();
  // A dataset that was fetched for an earlier search may have given way to a checkpoint that has been removed since.
  tried_.clear();
  if (search()) return job_.is_formed;
  // A program that is told that there is none would begin anew, and write over what is there.
  search_anew();
  return job_.is_formed &&
         job_.refuse_together(std::string("whether there is a checkpoint is not known: ") + Fenix_Error_message());
}

// The group has the newest one, in memory or from the store. Then come older ones of the store.
bool Restart::search() {
  if (job_.settings.fetches && !apply_current()) return false;
  // A rank that has taken the place of another one does not know of a choice.
  if (!broadcast(job_.comm, chosen_)) return false;
  if (chosen_.empty() && examine_memory()) return true;
  std::string next = chosen_;
  while (job_.is_formed && job_.settings.fetches) {
    if (next.empty()) {
      const auto older = next_older();
      if (!older) return false;
      if (older->empty()) return true;
      next = *older;
    }
    const Choice fetched = fetch(next);
    if (fetched == Choice::unknown) return false;
    chosen_.clear();
    if (fetched == Choice::made && examine(FENIX_DATA_SNAPSHOT_LATEST)) return true;
    next.clear();
  }
  chosen_.clear();
  return true;
}

Restart::Choice Restart::fetch(const std::string& stored) {
  if (job_.is_first()) tried_.insert(stored);
  snapshots_.forget();
  const int code = Fenix_Data_fetch(kGroup, stored.c_str(), nullptr);
  if (!agree(job_.comm, code != FENIX_ERROR_STORE)) return Choice::unknown;
  if (code != FENIX_SUCCESS) return Choice::missing;
  // It has taken the place of all that was in memory.
  flushes_.forget_kept();
  return Choice::made;
}

// With SCR_CACHE_SIZE above 1, older checkpoints of this job are in memory as well, and perhaps there alone.
bool Restart::examine_memory() {
  if (examine(FENIX_DATA_SNAPSHOT_LATEST)) return true;
  if (!job_.is_formed) return false;
  const auto stamps = snapshots_.stamps();
  for (std::size_t i = 1; stamps && job_.is_formed && i < stamps->size(); ++i) {
    if (examine((*stamps)[i])) return true;
  }
  return false;
}

// Looks whether all ranks can use what the group has.
bool Restart::examine(int time_stamp) {
  const auto head = Snapshots::head_of(time_stamp);
  if (!job_.is_formed) return false;
  bool is_good = head && is_checkpoint(*head) && !refused_.contains({head->id, head->created});
  if (is_good && job_.is_first()) is_good = !is_withdrawn(*head);
  if (!agree(job_.comm, is_good)) return false;
  if (head->is_list && !examine_files(*head, time_stamp)) return false;
  head_ = head;
  time_stamp_ = time_stamp;
  return true;
}

bool Restart::is_withdrawn(const PackageHead& head) const {
  const auto entry = job_.index.get(head.name);
  // An output has taken the place of a checkpoint of its name.
  if (entry && !is_checkpoint(*entry) && entry->created > head.created) return true;
  if (entry) return entry->has_failed && entry->created == head.created;
  // Checkpoints that are in memory alone have no entry yet. Others have lost theirs when they were removed.
  return (head.is_list || is_output(head)) && job_.index.lacks(head.name);
}

// Each file is looked at by one rank.
bool Restart::examine_files(const PackageHead& head, int time_stamp) {
  const auto bytes = restore_package(head, time_stamp);
  auto files = bytes ? unpack_list(*bytes) : std::nullopt;
  bool is_good = files.has_value();
  for (std::size_t i = 0; is_good && i < files->size(); ++i) {
    const ListedFile& file = (*files)[i];
    if (!file.is_own) continue;
    const auto seal = seal_file(job_.prefix.folder() / file.name, false);
    is_good = seal && seal->size == file.seal.size && seal->hash == file.seal.hash;
    if (!is_good) (void)refuse("checkpoint " + head.name + ": " + file.name + " is not as it was written");
  }
  if (!agree(job_.comm, is_good)) {
    older_than_ = std::min(older_than_, head.id);
    return false;
  }
  listed_ = std::move(*files);
  return true;
}

// Rank 0 knows the index, and what the store has.
std::optional<std::string> Restart::next_older() {
  std::string next;
  bool is_known = true;
  if (job_.is_first()) {
    const auto stored = stored_datasets();
    is_known = stored.has_value();
    for (const StoredDataset& each : stored.value_or(std::vector<StoredDataset>{})) {
      const auto entry = job_.index.with_label(each.label);
      const bool is_other = entry && (entry->has_failed || !is_checkpoint(*entry) ||
                                      entry->ranks != size_of(job_.comm) || entry->id >= older_than_);
      if (is_other || tried_.contains(each.name)) continue;
      next = each.name;
      break;
    }
  }
  if (!agree(job_.comm, is_known)) return std::nullopt;
  return broadcast(job_.comm, next) ? next : "";
}

// SCR_CURRENT counts once in a launch: a program that is started again must not begin there each time.
bool Restart::apply_current() {
  const std::string name = std::exchange(job_.settings.current, {});
  // A rank that has taken the place of another one has none.
  if (!agree(job_.comm, !name.empty())) return true;
  const std::string launch = launch_of_job();
  const fs::path mark = job_.prefix.folder() / kControlFolder / "current";
  const std::string text = launch + "\n" + name + "\n";
  const auto read_mark = [mark] { return read_own_file(mark); };
  const bool is_due = !job_.is_first() || launch.empty() || in_time(read_mark).value_or(std::nullopt) != text;
  if (!agree(job_.comm, is_due)) return true;
  const Choice choice = choose(name);
  if (!job_.is_formed) return true;
  if (choice == Choice::unknown) {
    job_.settings.current = name;
    return false;
  }
  const bool is_noted =
      !job_.is_first() || launch.empty() || in_time([mark, text] { return write_durably(mark, text); }).value_or(false);
  if (!is_noted) (void)refuse(mark.string() + " cannot be written");
  if (choice == Choice::missing)
    (void)job_.refuse_together("SCR_CURRENT: there is no checkpoint " + name + " in the store");
  return true;
}

Restart::Choice Restart::make_current(const std::string& name, std::string& stored, IndexEntry& entry) const {
  const auto names = stored_with(label_of(name));
  if (!names) return Choice::unknown;
  const auto found = job_.index.get(name);
  if (names->empty() || (found && (found->name != name || !is_checkpoint(*found)))) return Choice::missing;
  if (Fenix_Data_dataset_set_current(names->front().c_str()) != FENIX_SUCCESS) return Choice::missing;
  stored = names->front();
  entry = found.value_or(IndexEntry{});
  // The user wants it, whatever was wrong with it.
  if (std::exchange(entry.has_failed, false)) (void)job_.index.put(entry);
  if (job_.settings.drops_later) drop_after(name, entry.id);
  return Choice::made;
}

// The checkpoint is that of the next job as well, until a newer one is flushed.
Restart::Choice Restart::choose(const std::string& name) {
  std::string stored;
  IndexEntry entry;
  Choice choice = job_.is_first() ? make_current(name, stored, entry) : Choice::unknown;
  std::array<std::uint64_t, 3> found{static_cast<std::uint64_t>(choice), entry.id, entry.count};
  if (MPI_Bcast(found.data(), 3, MPI_UINT64_T, 0, job_.comm) != MPI_SUCCESS || !broadcast(job_.comm, stored))
    return Choice::unknown;
  choice = static_cast<Choice>(found[0]);
  if (choice != Choice::made) return choice;
  catalog_.note_choice();
  // As if the program had gone on from it. A later checkpoint in memory is not wanted any more.
  job_.numbers.datasets = found[1];
  job_.numbers.checkpoints = found[2];
  flushes_.want_none();
  chosen_ = stored;
  search_anew();
  allow_older();
  refused_.clear();
  return choice;
}

// Without an entry nobody knows which datasets are later: none may go.
void Restart::drop_after(const std::string& name, std::uint64_t id) const {
  if (id > 0) {
    catalog_.drop_later(id);
  } else {
    say("SCR_DROP_AFTER_CURRENT: nothing is dropped: " + name + " has no entry in the list of datasets");
  }
}

bool Restart::open(const PackageHead& head) {
  if (head.is_list) {
    cache_.open_in_place(job_.prefix.folder());
    for (const ListedFile& each : listed_) cache_.note(each.name);
    return true;
  }
  const auto bytes = restore_package(head, time_stamp_);
  return job_.is_formed && bytes && cache_.open() && unpack(*bytes, cache_);
}

std::string Restart::path_of(const std::string& name) const {
  const auto is_readable = [](const fs::path& path) { return !path.empty() && ::access(path.c_str(), R_OK) == 0; };
  const auto relative = job_.prefix.relative(name.c_str());
  // Ranks may read files that others have written.
  if (cache_.is_in_place() && relative && is_readable(job_.prefix.folder() / *relative)) {
    return (job_.prefix.folder() / *relative).string();
  }
  fs::path path = cache_.find(relative.value_or(fs::path(name).filename().string()));
  // A name without a folder is the last part of some file, wherever this rank is.
  if (path.empty() && !fs::path(name).has_parent_path()) path = cache_.find(name);
  return is_readable(path) ? path.string() : "";
}

bool Restart::complete(bool is_valid) {
  if (!head_) return false;
  const PackageHead head = *head_;
  search_anew();
  if (is_valid) {
    job_.numbers.datasets = head.id;
    job_.numbers.checkpoints = head.count;
    return true;
  }
  refused_.insert({head.id, head.created});
  flushes_.forget_refused(head);
  older_than_ = std::min(older_than_, head.id);
  // Later jobs must not begin with it either.
  if (job_.is_first()) withdraw(head);
  return false;
}

void Restart::withdraw(const PackageHead& head) const {
  IndexEntry entry = job_.index.get(head.name).value_or(IndexEntry{});
  if (entry.created != head.created) entry = {head.id, head.count, head.flags, head.created, 0, false, head.name, {}};
  entry.ranks = size_of(job_.comm);
  entry.has_failed = true;
  if (!job_.index.put(entry)) (void)refuse("checkpoint " + head.name + ": that it has failed cannot be written");
  (void)Fenix_Data_dataset_set_current(nullptr);
}

}  // namespace scr_impl
