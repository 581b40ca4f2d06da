// SPDX-License-Identifier: BSD-3-Clause
#include "scr/output.hpp"

#include <scr.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>

#include "scr/file_copy.hpp"
#include "scr/kind.hpp"
#include "scr/stored.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

std::int64_t microseconds_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool is_regular(const CachedFile& file) {
  std::error_code error;
  return fs::is_regular_file(file.path, error);
}

}  // namespace

bool Output::begin(const std::string& name, int flags) {
  constexpr int kAll = SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT;
  DatasetNumbers& numbers = job_.numbers;
  const bool is_bad = name.size() >= SCR_MAX_FILENAME || flags < 0 || (flags & ~kAll) != 0;
  // A job that has a checkpoint, and does not go on from it, goes on from all that is there.
  const bool is_anew = restart_.head() || numbers.datasets == 0;
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(name + std::to_string(flags)) >> 1U);
  // Checkpoints after the one that it goes on from keep their numbers as well.
  const auto id = static_cast<std::int64_t>(std::max(numbers.datasets, numbers.known_datasets));
  const auto count = static_cast<std::int64_t>(is_anew ? std::max(numbers.checkpoints, numbers.known_checkpoints)
                                                       : numbers.checkpoints);
  // Smallest and largest hash at once; the largest numbers and time of all; whether the flush of all has ended.
  const bool has_ended = flushes_.is_in_background() && flushes_.has_ended();
  std::array<std::int64_t, 7> least{hash, -hash, is_bad ? -1 : 0, -id, -count, -microseconds_now(), has_ended ? 1 : 0};
  if (MPI_Allreduce(MPI_IN_PLACE, least.data(), 7, MPI_INT64_T, MPI_MIN, job_.comm) != MPI_SUCCESS)
    return job_.fail("SCR_Start_output");
  if (flushes_.is_in_background() && least[6] != 0) (void)flushes_.end_background();
  if (!job_.is_formed) return false;
  if (least[0] != -least[1]) return job_.refuse_together("SCR_Start_output: names or flags differ between ranks");
  if (least[2] != 0) return job_.refuse_together("SCR_Start_output: the name is too long, or there is no such flag");
  numbers.datasets = static_cast<std::uint64_t>(-least[3]) + 1;
  numbers.checkpoints = static_cast<std::uint64_t>(-least[4]);
  numbers.known_datasets = std::max(numbers.known_datasets, numbers.datasets);
  head_ = {};
  head_.id = numbers.datasets;
  head_.flags = static_cast<std::uint32_t>(flags);
  head_.is_list = job_.settings.bypasses;
  head_.created = static_cast<std::uint64_t>(-least[5]);
  head_.name = name.empty() ? "scr.dataset." + std::to_string(numbers.datasets) : name;
  if (is_checkpoint(head_)) head_.count = ++numbers.checkpoints;
  numbers.known_checkpoints = std::max(numbers.known_checkpoints, numbers.checkpoints);
  return true;
}

bool Output::complete(const SharedFiles& shared) {
  const bool is_good = head_.is_list ? put_in_place(shared) : put_copies(shared);
  if (!is_good) return false;
  if (is_checkpoint(head_)) return keep(shared);
  // Others are nowhere.
  return !(head_.is_list || is_output(head_)) || replace(shared);
}

bool Output::replace(const SharedFiles& shared) {
  flushes_.give_up(head_.name);
  if (!job_.is_formed || !snapshots_.remove(head_.name)) return false;
  catalog_.tidy(head_, shared.all);
  return job_.is_formed;
}

// The program has written the files where they belong. They have to survive the end of the system, and to be known again.
bool Output::put_in_place(const SharedFiles& shared) {
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
    if (bad.empty() && !sync_folders(each, job_.prefix.folder())) bad = each.string();
  }
  if (!bad.empty()) (void)refuse("dataset " + head_.name + ": " + bad + " is not there, or cannot be read");
  return agree(job_.comm, bad.empty()) && catalog_.record(head_, shared.all);
}

// The files are private ones. Two of one name would be one file below the prefix folder, with the bytes of one rank.
bool Output::put_copies(const SharedFiles& shared) {
  if (!shared.shared.empty()) {
    return job_.refuse_together("dataset " + head_.name + ": several ranks have written the file " + shared.shared +
                                ", which needs SCR_CACHE_BYPASS=1");
  }
  const auto& files = cache_.files();
  const auto missing = std::find_if_not(files.begin(), files.end(), is_regular);
  if (missing != files.end()) (void)refuse("dataset " + head_.name + ": " + missing->name + " is not there");
  if (!agree(job_.comm, missing == files.end())) return false;
  if (!is_output(head_)) return true;
  const auto failed = job_.prefix.publish(files);
  if (failed) (void)refuse("dataset " + head_.name + ": " + *failed + " cannot be written below the prefix folder");
  return agree(job_.comm, !failed) && catalog_.record(head_, shared.all);
}

bool Output::keep(const SharedFiles& shared) {
  std::FILE* file = nullptr;
  bool is_staged = Fenix_Data_member_stage_begin(kGroup, kFiles, &file) == FENIX_SUCCESS;
  if (is_staged) {
    const bool is_packed = head_.is_list ? pack_list(file, head_, in_place_) : pack(file, head_, cache_.files());
    is_staged = Fenix_Data_member_stage_end(kGroup, kFiles) == FENIX_SUCCESS && is_packed;
  }
  if (!agree(job_.comm, is_staged)) {
    const std::string why = "some rank cannot take the files of the checkpoint to memory";
    return job_.repaired != nullptr ? job_.tell(why) : job_.refuse_together(why);
  }
  int time_stamp = -1;
  int code = Fenix_Data_member_store(kGroup, kFiles, FENIX_DATA_SUBSET_PRESTAGED);
  if (code == FENIX_SUCCESS) code = Fenix_Data_commit_barrier(kGroup, &time_stamp);
  if (code != FENIX_SUCCESS) return job_.fail("commit of the checkpoint");
  const bool has_files = head_.is_list || is_output(head_);
  flushes_.keep({head_, has_files ? shared.all : std::vector<std::string>{}, time_stamp, false});
  snapshots_.note(time_stamp, head_.name);
  restart_.allow_older();
  return flushes_.flush_if_due();
}

}  // namespace scr_impl
