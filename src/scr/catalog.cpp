// SPDX-License-Identifier: BSD-3-Clause
#include "scr/catalog.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

#include "scr/kind.hpp"
#include "scr/patience.hpp"
#include "scr/stored.hpp"

namespace scr_impl {
namespace {

/// Returns the names of both lists.
std::vector<std::string> joined(std::vector<std::string> names, const std::vector<std::string>& more) {
  const std::set<std::string> known(names.begin(), names.end());
  std::copy_if(more.begin(), more.end(), std::back_inserter(names),
               [&](const std::string& each) { return !known.contains(each); });
  return names;
}

}  // namespace

void Catalog::clear() {
  replaced_.clear();
  is_current_free_ = frees_current_ = false;
}

bool Catalog::read_numbers() {
  std::array<std::uint64_t, 3> numbers{};
  if (job_.is_first()) {
    const auto entries = job_.index.all();
    numbers[0] = entries ? 1 : 0;
    for (const IndexEntry& each : entries.value_or(std::vector<IndexEntry>{})) {
      numbers[1] = std::max(numbers[1], each.id);
      numbers[2] = std::max(numbers[2], each.count);
    }
  }
  if (MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, 0, job_.comm) != MPI_SUCCESS) return false;
  // Without them a new dataset could take the name of another one.
  if (numbers[0] == 0) return job_.refuse_together("the list of datasets in the prefix folder cannot be read");
  DatasetNumbers& known = job_.numbers;
  known.known_datasets = std::max(known.known_datasets, numbers[1]);
  known.known_checkpoints = std::max(known.known_checkpoints, numbers[2]);
  return true;
}

// Rank 0 writes it. It has the files of the dataset of before as well until the new one is complete: if the job dies, they are known.
bool Catalog::record(const PackageHead& head, const std::vector<std::string>& files) {
  bool is_good = true;
  if (job_.is_first()) {
    const auto earlier = job_.index.get(head.name);
    if (earlier && earlier->name != head.name) {
      is_good = refuse("dataset " + head.name + ": the dataset " + earlier->name + " has this name in the store");
    } else {
      if (earlier ? earlier->created != head.created : !job_.index.lacks(head.name)) replaced_.insert(head.name);
      const auto all = joined(files, earlier.value_or(IndexEntry{}).files);
      is_good =
          job_.index.put({head.id, head.count, head.flags, head.created, size_of(job_.comm), false, head.name, all});
      if (!is_good) (void)refuse("dataset " + head.name + ": its entry in the prefix folder cannot be written");
    }
  }
  return agree(job_.comm, is_good);
}

// A dataset that the store still has keeps its entry and its files. The entry goes last: it says which files are to go with it.
bool Catalog::remove(const IndexEntry& entry, bool files_stay) const {
  if (!remove_stored(label_of(entry.name))) return false;
  if (!files_stay && !remove_files(entry.name, entry.files)) return false;
  return job_.index.remove(entry.name);
}

// Files that another dataset has as well stay: they have its bytes.
bool Catalog::remove_files(const std::string& gone, const std::vector<std::string>& files) const {
  if (files.empty()) return true;
  const auto entries = job_.index.all();
  if (!entries) return false;
  std::set<std::string> others;
  for (const IndexEntry& each : *entries) {
    if (each.name != gone) others.insert(each.files.begin(), each.files.end());
  }
  std::vector<std::string> own;
  std::copy_if(files.begin(), files.end(), std::back_inserter(own),
               [&](const std::string& file) { return !others.contains(file); });
  return in_time([prefix = job_.prefix, own] { return prefix.remove(own); }).value_or(false);
}

bool Catalog::remove(const std::string& name, bool files_stay) const {
  const auto found = job_.index.get(name);
  const bool is_unreadable = !found && !job_.index.lacks(name);
  IndexEntry entry = found.value_or(IndexEntry{});
  // The name may be the one that another dataset has in the store.
  if (!entry.name.empty() && entry.name != name) return true;
  entry.name = name;
  // To see neither the one nor the other would not mean that it is gone.
  const bool is_gone = remove(entry, files_stay) && job_.index.lacks(name);
  if (!is_gone || !is_unreadable || files_stay) return is_gone;
  return refuse("dataset " + name + ": its entry cannot be read, so its files are not known, and stay");
}

void Catalog::drop_later(std::uint64_t id) const {
  const auto entries = job_.index.all();
  if (!entries) say("SCR_DROP_AFTER_CURRENT: nothing is dropped: the list of datasets cannot be read");
  for (const IndexEntry& each : entries.value_or(std::vector<IndexEntry>{})) {
    if (each.id > id && !remove(each, true)) (void)refuse("dataset " + each.name + " cannot be dropped");
  }
}

// SCR_PREFIX_PURGE: all that is there goes, also what the group has found. The group is there: another job that uses the store has refused
// this one before. A run that only reads stands beside another one as well.
bool Catalog::purge_if_told() {
  if (!agree(job_.comm, std::exchange(job_.settings.purges_prefix, false))) return job_.is_formed;
  // No snapshot has this time stamp: the answer says whether this run may write.
  if (Fenix_Data_flush(kGroup, FENIX_TIME_STAMP_MAX, nullptr) == FENIX_ERROR_STORE)
    return job_.refuse_together(std::string("SCR_PREFIX_PURGE: nothing is removed: ") + Fenix_Error_message());
  if (!job_.is_formed) return false;
  const bool is_empty = !job_.is_first() || remove_all();
  // There may be no snapshot.
  (void)Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_ALL);
  return Fenix_Data_barrier(kGroup) == FENIX_SUCCESS && agree(job_.comm, is_empty);
}

bool Catalog::remove_all() const {
  for (const IndexEntry& each : job_.index.all().value_or(std::vector<IndexEntry>{})) (void)remove(each, false);
  // Keepers may complete those that are not.
  for (const StoredDataset& each : stored_datasets(true).value_or(std::vector<StoredDataset>{}))
    (void)Fenix_Data_dataset_delete(each.name.c_str());
  const auto left = job_.index.all();
  const auto stored = stored_datasets(true);
  const bool is_empty = left && left->empty() && stored && stored->empty();
  return is_empty || refuse("SCR_PREFIX_PURGE: some datasets cannot be removed");
}

// A dataset that was chosen for this job must not be that of the next one, when there is a newer one.
void Catalog::free_current() {
  if (!std::exchange(is_current_free_, true) && job_.is_first()) (void)Fenix_Data_dataset_set_current(nullptr);
}

// A name is that of one dataset. Older checkpoints go when there is a newer one.
void Catalog::tidy(const PackageHead& newest, const std::vector<std::string>& files) {
  if (!job_.is_formed || !job_.is_first()) return;
  if (replaced_.erase(newest.name) != 0) end_replaced(newest, files);
  if (is_checkpoint(newest) && job_.settings.prefix_size > 0) prune(newest);
}

void Catalog::end_replaced(const PackageHead& newest, const std::vector<std::string>& files) const {
  // The store has the new one only if it is a checkpoint.
  (void)remove_stored(label_of(newest.name), is_checkpoint(newest) ? 1 : 0);
  auto entry = job_.index.get(newest.name);
  if (!entry || entry->created != newest.created) return;
  const auto all = std::exchange(entry->files, files);
  // Without the list of the new one they stay in it, for the next dataset of this name, or for its removal.
  if (job_.index.put(*entry) && !remove_files("", all))
    (void)refuse("dataset " + newest.name + ": files of the one that had its name cannot be removed");
}

// Checkpoints before the newest one go, except the latest ones, and those that are outputs as well. The store knows which ones are whole, and in
// which order they were written: one whose flush has failed takes no other one's place.
void Catalog::prune(const PackageHead& newest) const {
  const auto entries = job_.index.all();
  const auto stored = stored_datasets();
  if (!entries || !stored) return;
  std::map<std::string, const IndexEntry*> others;  // by the names that they have in the store
  for (const IndexEntry& each : *entries) {
    const bool counts = is_checkpoint(each) && !each.has_failed && each.name != newest.name;
    if (counts) others[label_of(each.name)] = &each;
  }
  long left = job_.settings.prefix_size - 1;
  std::uint64_t oldest = newest.created;
  const auto remove_unless_output = [this](const IndexEntry& entry) {
    if (!is_output(entry)) (void)remove(entry, false);
  };
  for (const StoredDataset& each : *stored) {
    const auto found = others.extract(each.label);
    if (found.empty()) continue;
    const IndexEntry& entry = *found.mapped();
    if (left > 0) {
      --left;
      oldest = std::min(oldest, entry.created);
    } else {
      remove_unless_output(entry);
    }
  }
  // Checkpoints that are not whole are of no use any more, when there are enough newer ones.
  for (const auto& [label, entry] : others) {
    if (left == 0 && entry->created < oldest) remove_unless_output(*entry);
  }
}

}  // namespace scr_impl
