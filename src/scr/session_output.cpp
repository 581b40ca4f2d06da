// SPDX-License-Identifier: BSD-3-Clause
// How datasets are written.
#include <scr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>

#include "scr/file_copy.hpp"
#include "scr/ranks.hpp"
#include "scr/session.hpp"
#include "scr/stored.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

std::int64_t microseconds_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool is_checkpoint(const PackageHead& head) { return (head.flags & SCR_FLAG_CHECKPOINT) != 0; }
bool is_output(const PackageHead& head) { return (head.flags & SCR_FLAG_OUTPUT) != 0; }

bool is_regular(const CachedFile& file) {
  std::error_code error;
  return fs::is_regular_file(file.path, error);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------ start, files

bool Session::start_output(const char* name, int flags, State wanted) {
  if (!is(State::idle, wanted == State::output ? "SCR_Start_output" : "SCR_Start_checkpoint") || !form()) return false;
  const std::string given = name != nullptr ? name : "";
  if (!agree_on_start(given, flags)) return false;
  cache_.clear();
  if (settings_.bypasses) {
    cache_.open_in_place(prefix_.folder());
  } else if (!agree(comm_, cache_.open())) {
    rest();
    return refuse_together("no private folder can be made, in SCR_CACHE_BASE, /dev/shm, TMPDIR or /tmp");
  }
  restart_.reset();
  // A program that asks once more goes on from what it writes now.
  is_searched_ = false;
  state_ = wanted;
  return true;
}

bool Session::agree_on_start(const std::string& name, int flags) {
  constexpr int kAll = SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT;
  const bool is_bad = name.size() >= SCR_MAX_FILENAME || flags < 0 || (flags & ~kAll) != 0;
  // A job that has a checkpoint, and does not go on from it, goes on from all that is there.
  const bool is_anew = restart_ || datasets_ == 0;
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(name + std::to_string(flags)) >> 1U);
  // Checkpoints after the one that it goes on from keep their numbers as well.
  const auto id = static_cast<std::int64_t>(std::max(datasets_, known_datasets_));
  const auto count = static_cast<std::int64_t>(is_anew ? std::max(checkpoints_, known_checkpoints_) : checkpoints_);
  // Smallest and largest hash at once; the largest numbers and time of all; whether the flush of all has ended.
  const bool has_ended = flushing_ && has_flush_ended();
  std::array<std::int64_t, 7> least{hash, -hash, is_bad ? -1 : 0, -id, -count, -microseconds_now(), has_ended ? 1 : 0};
  if (MPI_Allreduce(MPI_IN_PLACE, least.data(), 7, MPI_INT64_T, MPI_MIN, comm_) != MPI_SUCCESS)
    return fail("SCR_Start_output");
  if (flushing_ && least[6] != 0) (void)end_background_flush();
  if (!is_formed_) return false;
  if (least[0] != -least[1]) return refuse_together("SCR_Start_output: names or flags differ between ranks");
  if (least[2] != 0) return refuse_together("SCR_Start_output: the name is too long, or there is no such flag");
  datasets_ = static_cast<std::uint64_t>(-least[3]) + 1;
  checkpoints_ = static_cast<std::uint64_t>(-least[4]);
  known_datasets_ = std::max(known_datasets_, datasets_);
  dataset_ = {};
  dataset_.id = datasets_;
  dataset_.flags = static_cast<std::uint32_t>(flags);
  dataset_.is_list = settings_.bypasses;
  dataset_.created = static_cast<std::uint64_t>(-least[5]);
  dataset_.name = name.empty() ? "scr.dataset." + std::to_string(datasets_) : name;
  if (is_checkpoint(dataset_)) dataset_.count = ++checkpoints_;
  known_checkpoints_ = std::max(known_checkpoints_, checkpoints_);
  return true;
}

bool Session::route(const char* name, char* file) {
  if (name == nullptr || file == nullptr || *name == 0) return refuse("SCR_Route_file without a name or a buffer");
  std::string path = name;
  if (state_ == State::restart) {
    path = route_in_restart(name);
    // Programs ask for files that may be there.
    if (path.empty()) return tell(std::string("the checkpoint has no file ") + name);
  } else if (state_ == State::output || state_ == State::checkpoint) {
    const auto relative = prefix_.relative(name);
    if (!relative) return refuse(std::string("the file ") + name + " is not below " + prefix_.folder().string());
    path = cache_.add(*relative).string();
    if (path.empty()) return refuse(std::string("no folder can be made for ") + name);
  }
  if (path.size() >= SCR_MAX_FILENAME) return refuse("the path is too long: " + path);
  put_name(path, file);
  return true;
}

// ------------------------------------------------------------------------------------------------------- completion

bool Session::complete_output(bool is_valid, State wanted) {
  if (!is(wanted, wanted == State::output ? "SCR_Complete_output" : "SCR_Complete_checkpoint")) return false;
  std::vector<std::string> names;
  for (const CachedFile& each : cache_.files()) names.push_back(each.name);
  bool is_good = agree(comm_, is_valid);
  if (is_good) {
    const auto shared = compare_files(comm_, names);
    if (!shared) {
      is_good = repaired_ != nullptr ? false : refuse_together("the names of files cannot be compared");
    } else {
      is_good = dataset_.is_list ? put_in_place(*shared) : put_copies(*shared);
      if (is_good && is_checkpoint(dataset_)) is_good = keep(*shared);
    }
  }
  if (!is_good && state_ == wanted && is_checkpoint(dataset_)) --checkpoints_;
  rest();
  if (is_good && is_checkpoint(dataset_)) exit_if_told();
  return is_good;
}

// The program has written the files where they belong. They have to survive the end of the system, and to be known again.
bool Session::put_in_place(const SharedFiles& shared) {
  in_place_.clear();
  std::string bad;
  std::set<fs::path> folders;
  for (std::size_t i = 0; i < cache_.files().size(); ++i) {
    const CachedFile& file = cache_.files()[i];
    ListedFile listed{file.name, {}, shared.is_own[i]};
    if (listed.is_own) {
      const auto seal = is_regular(file) ? seal_file(file.path, true) : std::nullopt;
      if (!seal) bad = file.name;
      listed.seal = seal.value_or(FileSeal{});
      folders.insert(file.path.parent_path());
    }
    in_place_.push_back(std::move(listed));
  }
  for (const fs::path& each : folders) {
    if (bad.empty() && !sync_folders(each, prefix_.folder())) bad = each.string();
  }
  if (!bad.empty()) (void)refuse("dataset " + dataset_.name + ": " + bad + " is not there, or cannot be read");
  return agree(comm_, bad.empty()) && record(dataset_, shared.all);
}

// The files are private ones. Two of one name would be one file below the prefix folder, with the bytes of one rank.
bool Session::put_copies(const SharedFiles& shared) {
  if (!shared.shared.empty()) {
    return refuse_together("dataset " + dataset_.name + ": several ranks have written the file " + shared.shared +
                           ", which needs SCR_CACHE_BYPASS=1");
  }
  const auto& files = cache_.files();
  const auto missing = std::find_if_not(files.begin(), files.end(), is_regular);
  if (missing != files.end()) (void)refuse("dataset " + dataset_.name + ": " + missing->name + " is not there");
  if (!agree(comm_, missing == files.end())) return false;
  if (!is_output(dataset_)) return true;
  const auto failed = prefix_.publish(files);
  if (failed) (void)refuse("dataset " + dataset_.name + ": " + *failed + " cannot be written below the prefix folder");
  return agree(comm_, !failed) && record(dataset_, shared.all);
}

// Rank 0 writes it.
bool Session::record(const PackageHead& head, const std::vector<std::string>& files) {
  bool is_good = true;
  if (rank_of(comm_) == 0) {
    const auto earlier = index_.get(head.name);
    if (earlier && earlier->created != head.created) replaced_.insert(head.name);
    is_good = index_.put({head.id, head.count, head.flags, head.created, size_of(comm_), false, head.name, files});
    if (!is_good) (void)refuse("dataset " + head.name + ": its entry in the prefix folder cannot be written");
  }
  return agree(comm_, is_good);
}

bool Session::keep(const SharedFiles& shared) {
  std::FILE* file = nullptr;
  bool is_staged = Fenix_Data_member_stage_begin(kGroup, kFiles, &file) == FENIX_SUCCESS;
  if (is_staged) {
    const bool is_packed =
        dataset_.is_list ? pack_list(file, dataset_, in_place_) : pack(file, dataset_, cache_.files());
    is_staged = Fenix_Data_member_stage_end(kGroup, kFiles) == FENIX_SUCCESS && is_packed;
  }
  if (!agree(comm_, is_staged)) {
    const std::string why = "some rank cannot take the files of the checkpoint to memory";
    return repaired_ != nullptr ? tell(why) : refuse_together(why);
  }
  int time_stamp = -1;
  int code = Fenix_Data_member_store(kGroup, kFiles, FENIX_DATA_SUBSET_PRESTAGED);
  if (code == FENIX_SUCCESS) code = Fenix_Data_commit_barrier(kGroup, &time_stamp);
  if (code != FENIX_SUCCESS) return fail("commit of the checkpoint");
  kept_ = Kept{dataset_, dataset_.is_list || is_output(dataset_) ? shared.all : std::vector<std::string>{}, time_stamp,
               false};
  committed_[time_stamp] = dataset_.name;
  const auto most = static_cast<std::size_t>(std::max(settings_.cache_size, 1L)) + 1;
  while (committed_.size() > most) committed_.erase(committed_.begin());
  // Datasets before this one count again: whether one is good is looked at once more.
  older_than_ = UINT64_MAX;
  return flush_if_due();
}

// ------------------------------------------------------------------------------------------------------------ flush

bool Session::flush_if_due() {
  // Files in their own places are of use when the store has the list of them.
  if (dataset_.is_list) return flush(false);
  const auto every = static_cast<std::uint64_t>(settings_.flush_every);
  const bool is_due = is_output(dataset_) || (every > 0 && checkpoints_ % every == 0);
  return !is_due || flush(settings_.flushes_in_background);
}

bool Session::flush(bool in_background) {
  (void)end_background_flush();
  if (!is_formed_ || !kept_) return false;
  const PackageHead head = kept_->head;
  const std::string label = label_of(head.name);
  if (!head.is_list && !record(head, kept_->files)) return false;
  const int code = in_background ? Fenix_Data_iflush(kGroup, kept_->time_stamp, label.c_str(), &request_)
                                 : Fenix_Data_flush(kGroup, kept_->time_stamp, label.c_str());
  if (code != FENIX_SUCCESS) {
    const std::string what = "flush of the checkpoint " + head.name;
    return code == FENIX_ERROR_STORE ? refuse_together(what + ": " + Fenix_Error_message()) : fail(what);
  }
  kept_->is_flushed = true;
  if (in_background) {
    flushing_ = *kept_;
    frees_current_ = true;
  } else {
    free_current();
    tidy(head);
  }
  return true;
}

bool Session::end_background_flush() {
  if (!flushing_) return true;
  const PackageHead head = std::exchange(flushing_, std::nullopt)->head;
  // The part of one node may have failed.
  const bool is_written = agree(comm_, Fenix_Data_wait(std::exchange(request_, FENIX_REQUEST_NULL)) == FENIX_SUCCESS);
  if (!is_formed_) return is_written;
  if (is_written) {
    if (std::exchange(frees_current_, false)) free_current();
    tidy(head);
    return true;
  }
  if (kept_ && kept_->head.id == head.id) kept_->is_flushed = false;
  return refuse_together("the flush of the checkpoint " + head.name + " has failed: it is not in the store");
}

bool Session::has_flush_ended() const {
  int state = FENIX_FLUSH_WRITING;
  const int code = Fenix_Data_flush_state(kGroup, flushing_->time_stamp, &state, nullptr);
  return code != FENIX_SUCCESS || state == FENIX_FLUSH_COMPLETE || state == FENIX_FLUSH_FAILED;
}

// A dataset that was chosen for this job must not be that of the next one, when there is a newer one.
void Session::free_current() {
  if (!std::exchange(is_current_free_, true) && rank_of(comm_) == 0) (void)Fenix_Data_dataset_set_current(nullptr);
}

// Older data goes when a checkpoint in the store takes its place.
void Session::tidy(const PackageHead& newest) {
  if (!is_formed_ || rank_of(comm_) != 0) return;
  // A name is that of one dataset.
  if (replaced_.erase(newest.name) != 0) remove_stored(label_of(newest.name), 1);
  if (settings_.prefix_size > 0) prune(newest);
}

// Checkpoints before the newest one go, except the latest ones, and those that are outputs as well. The store knows which ones are whole, and in
// which order they were written: one whose flush has failed takes no other one's place.
void Session::prune(const PackageHead& newest) const {
  const auto entries = index_.all();
  if (!entries) return;
  std::map<std::string, const IndexEntry*> others;  // by the names that they have in the store
  for (const IndexEntry& each : *entries) {
    const bool counts = (each.flags & SCR_FLAG_CHECKPOINT) != 0 && !each.has_failed && each.name != newest.name;
    if (counts) others[label_of(each.name)] = &each;
  }
  long left = settings_.prefix_size - 1;
  std::uint64_t oldest = newest.created;
  const auto remove_unless_output = [this](const IndexEntry& entry) {
    if ((entry.flags & SCR_FLAG_OUTPUT) == 0) remove_entry(entry, false);
  };
  for (const StoredDataset& each : stored_datasets()) {
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

void Session::rest() {
  cache_.clear();
  in_place_.clear();
  if (state_ != State::before) state_ = State::idle;
}

}  // namespace scr_impl
