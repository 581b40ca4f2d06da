// SPDX-License-Identifier: BSD-3-Clause
// Choice and removal of datasets.
#include <scr.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "scr/patience.hpp"
#include "scr/ranks.hpp"
#include "scr/session.hpp"
#include "scr/stored.hpp"

namespace scr_impl {

bool Session::set_current(const char* name) {
  if (!is(State::idle, "SCR_Current") || !form()) return false;
  if (name == nullptr || *name == 0) return refuse("SCR_Current without a name");
  if (!choose(name)) (void)tell(std::string("SCR_Current: there is no checkpoint ") + name + " in the store");
  return is_formed_;
}

// The checkpoint is that of the next job as well, until a newer one is flushed.
bool Session::choose(const std::string& name) {
  std::array<std::uint64_t, 3> found{};
  std::string stored;
  if (rank_of(comm_) == 0) {
    auto entry = index_.get(name);
    const auto names = stored_with(label_of(name));
    const bool is_there = !names.empty() && (!entry || (entry->flags & SCR_FLAG_CHECKPOINT) != 0);
    if (is_there && Fenix_Data_dataset_set_current(names.front().c_str()) == FENIX_SUCCESS) {
      stored = names.front();
      found = {1, entry ? entry->id : 0, entry ? entry->count : 0};
      // The user wants it, whatever was wrong with it.
      if (entry && entry->has_failed) {
        entry->has_failed = false;
        (void)index_.put(*entry);
      }
      if (settings_.drops_later) drop_later(found[1]);
    }
  }
  if (MPI_Bcast(found.data(), 3, MPI_UINT64_T, 0, comm_) != MPI_SUCCESS || !broadcast(comm_, stored)) return false;
  if (found[0] == 0) return false;
  is_current_free_ = frees_current_ = false;
  // As if the program had gone on from it. A later checkpoint in memory is not wanted any more.
  datasets_ = found[1];
  checkpoints_ = found[2];
  if (kept_) kept_->is_flushed = true;
  chosen_ = stored;
  restart_.reset();
  is_searched_ = false;
  older_than_ = UINT64_MAX;
  refused_.clear();
  return true;
}

void Session::drop_later(std::uint64_t id) const {
  for (const IndexEntry& each : index_.all().value_or(std::vector<IndexEntry>{})) {
    if (each.id > id) remove_entry(each, true);
  }
}

bool Session::remove(const char* name, bool files_stay) {
  const char* const call = files_stay ? "SCR_Drop" : "SCR_Delete";
  if (!is(State::idle, call) || !form()) return false;
  if (name == nullptr || *name == 0) return refuse(std::string(call) + " without a name");
  const bool is_kept = kept_ && kept_->head.name == name;
  // It must not be completed afterwards.
  if (is_kept || (flushing_ && flushing_->head.name == name)) (void)end_background_flush();
  if (is_kept) kept_.reset();
  if (!is_formed_ || !forget_snapshots(name)) return false;
  if (restart_ && restart_->name == name) {
    restart_.reset();
    is_searched_ = false;
  }
  bool is_gone = true;
  if (rank_of(comm_) == 0) {
    IndexEntry entry = index_.get(name).value_or(IndexEntry{});
    entry.name = name;
    remove_entry(entry, files_stay);
    is_gone = !index_.get(name) && stored_with(label_of(name)).empty();
    if (!is_gone) (void)refuse(std::string(call) + ": " + name + " cannot be removed");
  }
  // Other ranks may look for it at once.
  return agree(comm_, is_gone);
}

bool Session::forget_snapshots(const std::string& name) {
  std::string stamps;
  int number = 0;
  if (rank_of(comm_) == 0) (void)Fenix_Data_group_get_number_of_snapshots(kGroup, &number);
  for (int i = 0; i < number; ++i) {
    int stamp = -1;
    if (Fenix_Data_group_get_snapshot_at_position(kGroup, i, &stamp) == FENIX_SUCCESS)
      stamps += std::to_string(stamp) + " ";
  }
  if (!broadcast(comm_, stamps)) return false;
  std::istringstream list(stamps);
  bool is_any = false;
  for (int stamp = 0; list >> stamp;) {
    const auto known = committed_.find(stamp);
    bool is_it = known != committed_.end() && known->second == name;
    if (known == committed_.end()) {
      // Some ranks may have lost their part.
      const auto head = head_of(stamp);
      is_it = is_formed_ && !agree(comm_, !head || head->name != name);
    }
    if (!is_formed_) return false;
    if (!is_it) continue;
    // A rank may have no such snapshot any more.
    (void)Fenix_Data_snapshot_delete(kGroup, stamp);
    committed_.erase(stamp);
    is_any = true;
  }
  return !is_any || Fenix_Data_barrier(kGroup) == FENIX_SUCCESS || fail("removal of a checkpoint from memory");
}

// Files that another dataset has as well stay: they have its bytes.
void Session::remove_entry(const IndexEntry& entry, bool files_stay) const {
  remove_stored(label_of(entry.name));
  (void)index_.remove(entry.name);
  if (files_stay || entry.files.empty()) return;
  const auto entries = index_.all();
  if (!entries) return;
  std::set<std::string> others;
  for (const IndexEntry& each : *entries) others.insert(each.files.begin(), each.files.end());
  std::vector<std::string> files;
  std::copy_if(entry.files.begin(), entry.files.end(), std::back_inserter(files),
               [&](const std::string& file) { return !others.contains(file); });
  (void)in_time([prefix = prefix_, files] {
    prefix.remove(files);
    return true;
  });
}

// SCR_PREFIX_PURGE: all that is there goes, also what the group has found. The group is there: another job that uses the store has refused
// this one before. A run that only reads stands beside another one as well.
bool Session::purge_if_told() {
  if (!agree(comm_, std::exchange(settings_.purges_prefix, false))) return is_formed_;
  // No snapshot has this time stamp: the answer says whether this run may write.
  if (Fenix_Data_flush(kGroup, FENIX_TIME_STAMP_MAX, nullptr) == FENIX_ERROR_STORE)
    return refuse_together(std::string("SCR_PREFIX_PURGE: nothing is removed: ") + Fenix_Error_message());
  if (!is_formed_) return false;
  const bool is_empty = rank_of(comm_) != 0 || remove_all();
  // There may be no snapshot.
  (void)Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_ALL);
  return Fenix_Data_barrier(kGroup) == FENIX_SUCCESS && agree(comm_, is_empty);
}

bool Session::remove_all() const {
  for (const IndexEntry& each : index_.all().value_or(std::vector<IndexEntry>{})) remove_entry(each, false);
  // Keepers may complete those that are not.
  for (const StoredDataset& each : stored_datasets(true)) (void)Fenix_Data_dataset_delete(each.name.c_str());
  const auto left = index_.all();
  const bool is_empty = left && left->empty() && stored_datasets(true).empty();
  return is_empty || refuse("SCR_PREFIX_PURGE: some datasets cannot be removed");
}

}  // namespace scr_impl
