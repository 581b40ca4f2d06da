// SPDX-License-Identifier: BSD-3-Clause
// Begin and end, and what does not belong to one dataset.
#include "scr/session.hpp"

#include <scr.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/settings_files.hpp"
#include "scr/file_copy.hpp"
#include "scr/patience.hpp"
#include "scr/ranks.hpp"
#include "scr/saying.hpp"
#include "scr/stored.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr int kXor = 5;
constexpr int kCopies = 1;
constexpr const char* kStore = "fenix";
constexpr const char* kIndex = "datasets";
// Where an earlier version of this library had its store.
constexpr const char* kFormerStore = ".scr-fenix";

/// A policy of Fenix and its values.
struct Policy {
  int name = FENIX_DATA_POLICY_IN_MEMORY_RAID;
  std::array<int, 3> values{};
};

Policy policy_of(const Settings& settings, int ranks) {
  const int size = static_cast<int>(std::clamp(settings.redundancy.set_size, 2L, 128L));
  const int losses = static_cast<int>(std::clamp(settings.redundancy.set_failures, 1L, 4L));
  if (ranks == 1 || settings.redundancy.scheme == Scheme::single) return {FENIX_DATA_POLICY_LOCAL, {}};
  if (settings.redundancy.scheme == Scheme::partner || ranks == 2) {
    return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {kCopies, FENIX_DATA_SEPARATION_AUTO, 0}};
  }
  if (settings.redundancy.scheme == Scheme::reed_solomon && ranks > losses) {
    return {FENIX_DATA_POLICY_REED_SOLOMON,
            {FENIX_DATA_SEPARATION_AUTO, std::min(std::max(size, losses + 1), ranks), losses}};
  }
  return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {kXor, FENIX_DATA_SEPARATION_AUTO, std::min(size, ranks)}};
}

bool has_mpi() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}

}  // namespace

Session& session() {
  static Session only;
  return only;
}

void put_name(const std::string& name, char* to) {
  if (to == nullptr) return;
  std::strncpy(to, name.c_str(), SCR_MAX_FILENAME - 1);
  to[SCR_MAX_FILENAME - 1] = 0;
}

bool Session::is(State wanted, const char* call) const {
  if (state_ == wanted) return true;
  // The program was started so on purpose.
  if (is_disabled_) return false;
  static constexpr std::array kWords{"outside of SCR_Init and SCR_Finalize", "outside of a dataset", "within an output",
                                     "within a checkpoint", "within a restart"};
  return refuse(std::string(call) + " was called " + kWords[static_cast<std::size_t>(state_)]);
}

// ------------------------------------------------------------------------------------------------------ begin and end

bool Session::settle_parameters() {
  const bool is_first = rank_of(MPI_COMM_WORLD) == 0;
  std::vector<std::string> complaints;
  // Ranks may be on nodes with other environments and files: those of rank 0 count for all.
  std::string text = is_first ? parameters_.read_all(complaints) : "";
  std::string by_program = is_first ? parameters_.set_by_program() : "";
  if (!broadcast(MPI_COMM_WORLD, text) || !broadcast(MPI_COMM_WORLD, by_program)) return false;
  if (!agree(MPI_COMM_WORLD, by_program == parameters_.set_by_program()))
    return is_first ? refuse("SCR_Config was given other parameters on other ranks") : false;
  parameters_.use(text);
  std::vector<std::string> problems;
  job_.settings = settings_of(parameters_, problems);
  // A folder without a beginning is one where rank 0 was started. Ranks may be elsewhere.
  std::error_code unknown;
  std::string prefix = fs::absolute(job_.settings.prefix, unknown).string();
  if (!broadcast(MPI_COMM_WORLD, prefix)) return false;
  job_.settings.prefix = prefix;
  is_disabled_ = !job_.settings.is_enabled;
  if (is_first) {
    for (const std::string& each : complaints) say(each);
    for (const std::string& each : problems) say("SCR_Init: " + each);
    const std::string ignored = ignored_parameters(parameters_, job_.settings);
    if (!ignored.empty() && !is_disabled_) say("parameters without effect in this library: " + ignored);
  }
  return problems.empty() && !is_disabled_;
}

bool Session::prepare() {
  if (!job_.prefix.open(job_.settings.prefix)) {
    return agree(MPI_COMM_WORLD,
                 refuse("the folder " + job_.settings.prefix.string() + " of SCR_PREFIX cannot be made"));
  }
  const fs::path control = job_.prefix.folder() / kControlFolder;
  job_.index.set_folder(control / kIndex);
  const bool is_good = rank_of(MPI_COMM_WORLD) != 0 || make_folders(control);
  set_environment(parameters_, job_.settings, (control / kStore).string());
  std::vector<fs::path> bases;
  if (!job_.settings.cache_base.empty()) bases.emplace_back(job_.settings.cache_base);
  bases.emplace_back("/dev/shm");
  if (const char* const temporary = std::getenv("TMPDIR"); temporary != nullptr && *temporary != 0)
    bases.emplace_back(temporary);
  bases.emplace_back("/tmp");
  cache_.set_bases(std::move(bases));
  cache_.sweep();
  return agree(MPI_COMM_WORLD, is_good);
}

bool Session::make_folders(const fs::path& control) const {
  const fs::path former = job_.prefix.folder() / kFormerStore;
  const auto made = in_time([control, former] { return make_control_folder(control, former); });
  return made ? *made : refuse("the file system of " + control.string() + " does not answer");
}

bool Session::make_control_folder(const fs::path& control, const fs::path& former) {
  std::error_code error;
  // Where nothing can be written, there may be no list.
  const bool has_list = fs::symlink_status(control / kIndex, error).type() != fs::file_type::not_found;
  bool is_good = make_private_folder(control) && (!has_list || make_private_folder(control / kIndex));
  if (!is_good) (void)refuse("the folder " + control.string() + " cannot be made, or is not a folder of this user");
  const char* const store = std::getenv("FENIX_STORE");
  // Checkpoints there would be passed over in silence.
  if ((store == nullptr || *store == 0) && fs::exists(former, error)) {
    is_good = refuse("checkpoints of an earlier version are in " + former.string() +
                     ", and cannot be read: remove this folder, or use the other version");
  }
  return is_good;
}

bool Session::begin_fenix() {
  // Fenix writes these again after each repair.
  static int latest_role = 0;
  static int latest_error = 0;
  int spares = 0;
  const char* const wanted = job_.repaired != nullptr ? fenix_impl::setting("FENIX_SPARES") : nullptr;
  if (wanted != nullptr && *wanted != 0) {
    char* end = nullptr;
    const long number = std::strtol(wanted, &end, 10);
    // Fenix_Init refuses -1.
    spares = *end == 0 && number >= 0 && number <= INT32_MAX ? static_cast<int>(number) : -1;
  }
  const int code = Fenix_Init_no_jump(&latest_role, MPI_COMM_WORLD, &job_.comm, nullptr, nullptr, spares, 0,
                                      MPI_INFO_NULL, &latest_error);
  const int role = latest_role;
  if (code != FENIX_SUCCESS && code != FENIX_WARNING_SPARE_RANKS_DEPLETED) {
    if (rank_of(MPI_COMM_WORLD) == 0) say(std::string("SCR_Init has failed: ") + Fenix_Error_message());
    return false;
  }
  state_ = State::idle;
  if (role != FENIX_ROLE_INITIAL_RANK) {
    // Both count once in a job, and have done so when it began.
    job_.settings.purges_prefix = false;
    job_.settings.current.clear();
  }
  if (job_.repaired != nullptr) *job_.repaired = job_.comm;
  Fenix_Callback_register(&Session::note_repair, this);
  // The others meet a rank that has taken the place of a dead one in their next call.
  if (role != FENIX_ROLE_INITIAL_RANK || form()) return true;
  if (!job_.is_formed && !job_.is_broken && job_.repaired != nullptr && Fenix_get_role() == FENIX_ROLE_SURVIVOR_RANK)
    return true;
  Fenix_Finalize();
  state_ = State::before;
  return false;
}

bool Session::begin(MPI_Comm* repaired) {
  if (!is(State::before, "SCR_Init")) return false;
  if (!has_mpi()) return refuse("SCR_Init was called before MPI_Init or after MPI_Finalize");
  job_.repaired = repaired;
  if (!settle_parameters() || !prepare() || !begin_fenix()) return false;
  exit_if_told();
  return true;
}

void Session::note_repair(MPI_Comm comm, int /*error*/, void* data) {
  auto& self = *static_cast<Session*>(data);
  self.job_.is_formed = false;
  self.restart_.search_anew();
  self.snapshots_.forget();
  self.flushes_.forget();
  self.rest();
  self.job_.comm = comm;
  if (self.job_.repaired != nullptr) {
    *self.job_.repaired = comm;
  } else {
    self.job_.is_broken = true;
  }
}

bool Session::end() {
  if (!is(State::idle, "SCR_Finalize")) return false;
  bool is_good = form();
  if (is_good) {
    const bool is_written = flushes_.end_background();
    is_good = is_written || flushes_.has_kept();
    const bool is_wanted = job_.settings.bypasses || job_.settings.flush.every > 0;
    if (flushes_.is_unflushed() && is_wanted) is_good = flushes_.flush(false);
  }
  if (Fenix_Finalize() != FENIX_SUCCESS) is_good = job_.fail("Fenix_Finalize");
  if (job_.repaired == nullptr && job_.comm != MPI_COMM_NULL && !job_.is_broken) MPI_Comm_free(&job_.comm);
  reset_environment();
  // SCR_Init may follow: nothing of this use counts then.
  parameters_ = Parameters();
  cache_.clear();
  // One in the background has ended with the use of Fenix, if the group could not be formed.
  flushes_.forget();
  snapshots_.forget();
  restart_.clear();
  catalog_.clear();
  job_.numbers.datasets = job_.numbers.checkpoints = 0;
  job_.is_formed = job_.is_broken = false;
  job_.comm = MPI_COMM_NULL;
  state_ = State::before;
  return is_good;
}

bool Session::form() {
  if (job_.is_broken) return refuse("a rank has died, and this program does not repair itself");
  if (job_.is_formed) return true;
  Policy policy = policy_of(job_.settings, size_of(job_.comm));
  const int depth = static_cast<int>(std::clamp(job_.settings.cache_size, 1L, 4096L)) - 1;
  int flag = FENIX_SUCCESS;
  int code = Fenix_Data_group_create(kGroup, job_.comm, 0, depth, policy.name, policy.values.data(), &flag);
  if (code == FENIX_SUCCESS) code = Fenix_Data_member_define(kGroup, kFiles, nullptr, FENIX_RESIZEABLE, MPI_BYTE);
  if (code != FENIX_SUCCESS) return job_.fail("the group for checkpoints");
  job_.is_formed = true;
  // SCR_FLUSH says which ones are flushed. fenix-run sets FENIX_FLUSH.
  (void)Fenix_Data_group_set_flush(kGroup, 0);
  job_.is_formed = catalog_.purge_if_told() && catalog_.read_numbers() && job_.is_formed;
  return job_.is_formed;
}

void Session::exit_if_told() {
  int flag = 0;
  if (!job_.settings.exits || state_ != State::idle || !form()) return;
  if (Fenix_Process_should_halt(&flag) != FENIX_SUCCESS || flag == 0) return;
  (void)job_.refuse_together("the job was told to end, and SCR_HALT_EXIT is set: it ends now");
  const bool is_good = end();
  MPI_Finalize();
  std::exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
}

void Session::rest() {
  cache_.clear();
  output_.forget_files();
  if (state_ != State::before) state_ = State::idle;
}

}  // namespace scr_impl
