// SPDX-License-Identifier: BSD-3-Clause
// Begin and end, and what does not belong to one dataset.
#include "scr/session.hpp"

#include <scr.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "scr/file_copy.hpp"
#include "scr/ranks.hpp"
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
  const int size = static_cast<int>(std::clamp(settings.set_size, 2L, 128L));
  const int losses = static_cast<int>(std::clamp(settings.set_failures, 1L, 4L));
  if (ranks == 1 || settings.scheme == Scheme::single) return {FENIX_DATA_POLICY_LOCAL, {}};
  if (settings.scheme == Scheme::partner || ranks == 2) {
    return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {kCopies, FENIX_DATA_SEPARATION_AUTO, 0}};
  }
  if (settings.scheme == Scheme::reed_solomon && ranks > losses) {
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

void say(const std::string& text) { std::fprintf(stderr, "scr: %s\n", text.c_str()); }

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

bool Session::refuse(const std::string& why) const {
  say(why);
  return false;
}

bool Session::refuse_together(const std::string& why) const {
  if (comm_ == MPI_COMM_NULL || rank_of(comm_) == 0) say(why);
  return false;
}

bool Session::tell(const std::string& why) const {
  if (settings_.talks) say(why);
  return false;
}

bool Session::fail(const std::string& what) const {
  const std::string text = what + ": " + Fenix_Error_message();
  return repaired_ != nullptr ? tell(text) : refuse(text);
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
  settings_ = settings_of(parameters_, problems);
  is_disabled_ = !settings_.is_enabled;
  if (is_first) {
    for (const std::string& each : complaints) say(each);
    for (const std::string& each : problems) say("SCR_Init: " + each);
    const std::string ignored = ignored_parameters(parameters_, settings_);
    if (!ignored.empty() && !is_disabled_) say("parameters without effect in this library: " + ignored);
  }
  return problems.empty() && !is_disabled_;
}

bool Session::prepare() {
  if (!prefix_.open(settings_.prefix)) {
    return agree(MPI_COMM_WORLD, refuse("the folder " + settings_.prefix.string() + " of SCR_PREFIX cannot be made"));
  }
  const fs::path control = prefix_.folder() / kControlFolder;
  index_.set_folder(control / kIndex);
  std::error_code error;
  bool is_good = true;
  if (rank_of(MPI_COMM_WORLD) == 0) {
    // Where nothing can be written, there may be no list.
    const bool has_list = fs::symlink_status(control / kIndex, error).type() != fs::file_type::not_found;
    is_good = make_private_folder(control) && (!has_list || make_private_folder(control / kIndex));
    if (!is_good) (void)refuse("the folder " + control.string() + " cannot be made, or is not a folder of this user");
    const char* const store = std::getenv("FENIX_STORE");
    const fs::path former = prefix_.folder() / kFormerStore;
    // Checkpoints there would be passed over in silence.
    if ((store == nullptr || *store == 0) && fs::exists(former, error)) {
      is_good = refuse("checkpoints of an earlier version are in " + former.string() +
                       ", and cannot be read: remove this folder, or use the other version");
    }
  }
  set_environment(parameters_, settings_, (control / kStore).string());
  std::vector<fs::path> bases;
  if (!settings_.cache_base.empty()) bases.emplace_back(settings_.cache_base);
  bases.emplace_back("/dev/shm");
  if (const char* const temporary = std::getenv("TMPDIR"); temporary != nullptr && *temporary != 0)
    bases.emplace_back(temporary);
  bases.emplace_back("/tmp");
  cache_.set_bases(std::move(bases));
  cache_.sweep();
  return agree(MPI_COMM_WORLD, is_good);
}

bool Session::begin_fenix() {
  // Fenix writes these again after each repair.
  static int latest_role = 0;
  static int latest_error = 0;
  int spares = 0;
  const char* const wanted = repaired_ != nullptr ? std::getenv("FENIX_SPARES") : nullptr;
  if (wanted != nullptr && *wanted != 0) {
    char* end = nullptr;
    const long number = std::strtol(wanted, &end, 10);
    // Fenix_Init refuses -1.
    spares = *end == 0 && number >= 0 && number <= INT32_MAX ? static_cast<int>(number) : -1;
  }
  const int code = Fenix_Init_no_jump(&latest_role, MPI_COMM_WORLD, &comm_, nullptr, nullptr, spares, 0, MPI_INFO_NULL,
                                      &latest_error);
  const int role = latest_role;
  if (code != FENIX_SUCCESS && code != FENIX_WARNING_SPARE_RANKS_DEPLETED) {
    if (rank_of(MPI_COMM_WORLD) == 0) say(std::string("SCR_Init has failed: ") + Fenix_Error_message());
    return false;
  }
  state_ = State::idle;
  if (role != FENIX_ROLE_INITIAL_RANK) {
    // Both count once in a job, and have done so when it began.
    settings_.purges_prefix = false;
    settings_.current.clear();
  }
  if (repaired_ != nullptr) *repaired_ = comm_;
  Fenix_Callback_register(&Session::note_repair, this);
  // The others meet a rank that has taken the place of a dead one in their next call.
  if (role != FENIX_ROLE_INITIAL_RANK || form()) return true;
  if (!is_formed_ && !is_broken_ && repaired_ != nullptr && Fenix_get_role() == FENIX_ROLE_SURVIVOR_RANK) return true;
  Fenix_Finalize();
  state_ = State::before;
  return false;
}

bool Session::begin(MPI_Comm* repaired) {
  if (!is(State::before, "SCR_Init")) return false;
  if (!has_mpi()) return refuse("SCR_Init was called before MPI_Init or after MPI_Finalize");
  repaired_ = repaired;
  if (!settle_parameters() || !prepare() || !begin_fenix()) return false;
  exit_if_told();
  return true;
}

void Session::note_repair(MPI_Comm comm, int /*error*/, void* data) {
  auto& self = *static_cast<Session*>(data);
  self.is_formed_ = false;
  self.is_searched_ = false;
  self.restart_.reset();
  self.kept_.reset();
  self.committed_.clear();
  self.request_ = FENIX_REQUEST_NULL;
  self.flushing_.reset();
  self.rest();
  self.comm_ = comm;
  if (self.repaired_ != nullptr) {
    *self.repaired_ = comm;
  } else {
    self.is_broken_ = true;
  }
}

bool Session::end() {
  if (!is(State::idle, "SCR_Finalize")) return false;
  bool is_good = form();
  if (is_good) {
    const bool is_written = end_background_flush();
    is_good = is_written || kept_;
    const bool is_wanted = settings_.bypasses || settings_.flush_every > 0;
    if (kept_ && !kept_->is_flushed && is_wanted) is_good = flush(false);
  }
  if (Fenix_Finalize() != FENIX_SUCCESS) is_good = fail("Fenix_Finalize");
  if (repaired_ == nullptr && comm_ != MPI_COMM_NULL && !is_broken_) MPI_Comm_free(&comm_);
  reset_environment();
  // SCR_Init may follow: nothing of this use counts then.
  parameters_ = Parameters();
  cache_.clear();
  kept_.reset();
  committed_.clear();
  restart_.reset();
  chosen_.clear();
  refused_.clear();
  replaced_.clear();
  tried_.clear();
  older_than_ = UINT64_MAX;
  datasets_ = checkpoints_ = 0;
  is_formed_ = is_broken_ = is_searched_ = is_current_free_ = frees_current_ = false;
  comm_ = MPI_COMM_NULL;
  state_ = State::before;
  return is_good;
}

bool Session::form() {
  if (is_broken_) return refuse("a rank has died, and this program does not repair itself");
  if (is_formed_) return true;
  Policy policy = policy_of(settings_, size_of(comm_));
  const int depth = static_cast<int>(std::clamp(settings_.cache_size, 1L, 4096L)) - 1;
  int flag = FENIX_SUCCESS;
  int code = Fenix_Data_group_create(kGroup, comm_, 0, depth, policy.name, policy.values.data(), &flag);
  if (code == FENIX_SUCCESS) code = Fenix_Data_member_define(kGroup, kFiles, nullptr, FENIX_RESIZEABLE, MPI_BYTE);
  if (code != FENIX_SUCCESS) return fail("the group for checkpoints");
  is_formed_ = true;
  // SCR_FLUSH says which ones are flushed. fenix-run sets FENIX_FLUSH.
  (void)Fenix_Data_group_set_flush(kGroup, 0);
  is_formed_ = purge_if_told() && read_index() && is_formed_;
  return is_formed_;
}

bool Session::read_index() {
  std::array<std::uint64_t, 3> numbers{};
  if (rank_of(comm_) == 0) {
    const auto entries = index_.all();
    numbers[0] = entries ? 1 : 0;
    for (const IndexEntry& each : entries.value_or(std::vector<IndexEntry>{})) {
      numbers[1] = std::max(numbers[1], each.id);
      numbers[2] = std::max(numbers[2], each.count);
    }
  }
  if (MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, 0, comm_) != MPI_SUCCESS) return false;
  // Without them a new dataset could take the name of another one.
  if (numbers[0] == 0) return refuse_together("the list of datasets in the prefix folder cannot be read");
  known_datasets_ = std::max(known_datasets_, numbers[1]);
  known_checkpoints_ = std::max(known_checkpoints_, numbers[2]);
  return true;
}

// ------------------------------------------------------------------------------------------------------ when to end

bool Session::should_exit(int* flag) {
  if (!is(State::idle, "SCR_Should_exit") || is_broken_) return false;
  if (flag == nullptr) return refuse("SCR_Should_exit without a flag");
  return Fenix_Process_should_halt(flag) == FENIX_SUCCESS || fail("SCR_Should_exit");
}

bool Session::need_checkpoint(int* flag) {
  if (flag == nullptr) return refuse("SCR_Need_checkpoint without a flag");
  *flag = 0;
  if (!is(State::idle, "SCR_Need_checkpoint") || !form()) return false;
  if (Fenix_Process_should_halt(flag) != FENIX_SUCCESS) return fail("SCR_Need_checkpoint");
  if (*flag != 0) return true;
  static constexpr std::array kLimits{"FENIX_COMMIT_EVERY", "FENIX_COMMIT_SECONDS", "FENIX_COMMIT_OVERHEAD",
                                      "FENIX_COMMIT_MTBF"};
  const bool is_limited = std::any_of(kLimits.begin(), kLimits.end(), [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != 0;
  });
  if (!is_limited) {
    *flag = 1;
    return true;
  }
  return Fenix_Data_need_commit(kGroup, flag) == FENIX_SUCCESS || fail("SCR_Need_checkpoint");
}

void Session::exit_if_told() {
  int flag = 0;
  if (!settings_.exits || state_ != State::idle || !form()) return;
  if (Fenix_Process_should_halt(&flag) != FENIX_SUCCESS || flag == 0) return;
  (void)refuse_together("the job was told to end, and SCR_HALT_EXIT is set: it ends now");
  const bool is_good = end();
  MPI_Finalize();
  std::exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace scr_impl
