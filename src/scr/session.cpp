// SPDX-License-Identifier: BSD-3-Clause
#include "scr/session.hpp"

#include <scr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

// Other programs have groups of small numbers.
constexpr int kGroup = 0x534352;
constexpr int kFiles = 0;

constexpr int kXor = 5;
constexpr int kCopies = 1;

/// Sets a variable for Fenix, unless it is set.
void set_default(const char* variable, const std::string& value) {
  const char* const present = std::getenv(variable);
  if (present == nullptr || *present == 0) ::setenv(variable, value.c_str(), 1);
}

bool is_none(const std::string& number) {
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  return number.empty() || (*end == 0 && value <= 0);
}

void put_name(const std::string& name, char* to) {
  if (to == nullptr) return;
  std::strncpy(to, name.c_str(), SCR_MAX_FILENAME - 1);
  to[SCR_MAX_FILENAME - 1] = 0;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Returns the full names of the datasets with this label in the store, newest first.
std::vector<std::string> datasets_with(const std::string& label) {
  std::vector<std::string> found;
  int number = 0;
  if (Fenix_Data_get_number_of_datasets(&number) != FENIX_SUCCESS) return found;
  const std::string beginning = std::to_string(kGroup) + ".";
  for (int i = 0; i < number; ++i) {
    std::array<char, FENIX_DATASET_NAME_MAX> name{};
    std::array<char, FENIX_DATASET_NAME_MAX> given{};
    if (Fenix_Data_get_dataset_at_position(i, name.data(), given.data(), nullptr) != FENIX_SUCCESS) continue;
    if (label == given.data() && std::strncmp(name.data(), beginning.c_str(), beginning.size()) == 0) {
      found.emplace_back(name.data());
    }
  }
  return found;
}

}  // namespace

Session& session() {
  static Session only;
  return only;
}

bool Session::refuse(const std::string& why) const {
  if (parameters_.number("SCR_DEBUG", 0) > 0) std::fprintf(stderr, "scr: %s\n", why.c_str());
  return false;
}

bool Session::is(State wanted, const char* call) const {
  if (state_ == wanted) return true;
  static constexpr std::array kWords{"before SCR_Init",     "outside of a dataset", "within an output",
                                     "within a checkpoint", "within a restart",     "after SCR_Finalize"};
  return refuse(std::string(call) + " was called " + kWords[static_cast<std::size_t>(state_)]);
}

// ------------------------------------------------------------------------------------------------------ begin and end

bool Session::prepare_environment() {
  std::error_code error;
  fs::path folder = parameters_.get("SCR_PREFIX", "");
  if (folder.empty()) folder = fs::current_path(error);
  if (!prefix_.open(folder)) return refuse("the folder " + folder.string() + " of SCR_PREFIX cannot be made");
  set_default("FENIX_STORE", (prefix_.folder() / ".scr-fenix").string());
  static constexpr std::array<std::pair<const char*, const char*>, 5> kSame{
      {{"SCR_CHECKPOINT_INTERVAL", "FENIX_COMMIT_EVERY"},
       {"SCR_CHECKPOINT_SECONDS", "FENIX_COMMIT_SECONDS"},
       {"SCR_CHECKPOINT_OVERHEAD", "FENIX_COMMIT_OVERHEAD"},
       {"SCR_HALT_SECONDS", "FENIX_HALT_SECONDS"},
       {"SCR_END_TIME", "FENIX_END_TIME"}}};
  for (const auto& [own, variable] : kSame) {
    const auto value = parameters_.get(own);
    // 0 is the word of SCR for "not at all". Fenix_Init refuses what is no number.
    if (value && !is_none(*value)) set_default(variable, *value);
  }
  if (parameters_.number("SCR_FETCH", 1) == 0) set_default("FENIX_FETCH", "off");
  return true;
}

void Session::prepare_cache() {
  std::vector<fs::path> bases;
  if (const auto base = parameters_.get("SCR_CACHE_BASE")) bases.emplace_back(*base);
  bases.emplace_back("/dev/shm");
  if (const char* const temporary = std::getenv("TMPDIR"); temporary != nullptr && *temporary != 0)
    bases.emplace_back(temporary);
  bases.emplace_back("/tmp");
  cache_.set_bases(std::move(bases));
  cache_.sweep();
}

bool Session::begin(MPI_Comm* repaired) {
  if (!is(State::before, "SCR_Init")) return false;
  if (parameters_.number("SCR_ENABLE", 1) == 0) return refuse("SCR_ENABLE is 0");
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized == 0 || is_finalized != 0)
    return refuse("SCR_Init was called before MPI_Init or after MPI_Finalize");
  // The ranks are alike here: a folder that one of them cannot make has to stop all of them, before Fenix is in use.
  int is_prepared = prepare_environment() ? 1 : 0;
  if (MPI_Allreduce(MPI_IN_PLACE, &is_prepared, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS || is_prepared == 0)
    return false;
  prepare_cache();
  repaired_ = repaired;
  // Fenix writes these again after each repair.
  static int latest_role = 0;
  static int latest_error = 0;
  int spares = 0;
  // Fenix_Init refuses -1, which stands for what is no number.
  if (repaired != nullptr && parameters_.get("FENIX_SPARES")) {
    spares = static_cast<int>(parameters_.number("FENIX_SPARES", -1));
  }
  const int code = Fenix_Init_no_jump(&latest_role, MPI_COMM_WORLD, &comm_, nullptr, nullptr, spares, 0, MPI_INFO_NULL,
                                      &latest_error);
  const int role = latest_role;
  if (code != FENIX_SUCCESS && code != FENIX_WARNING_SPARE_RANKS_DEPLETED) {
    if (rank_of(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "scr: SCR_Init has failed: %s\n", Fenix_Error_message());
    return false;
  }
  is_begun_ = true;
  state_ = State::idle;
  if (repaired != nullptr) *repaired = comm_;
  Fenix_Callback_register(&Session::note_repair, this);
  // The others meet a rank that has taken the place of a dead one in their next call.
  if (role != FENIX_ROLE_INITIAL_RANK || form()) return true;
  if (!is_formed_ && !is_broken_ && repaired != nullptr && Fenix_get_role() == FENIX_ROLE_SURVIVOR_RANK) return true;
  Fenix_Finalize();
  state_ = State::after;
  return false;
}

void Session::note_repair(MPI_Comm comm, int /*error*/, void* data) {
  auto& self = *static_cast<Session*>(data);
  self.is_formed_ = false;
  self.restart_.reset();
  self.kept_.reset();
  self.request_ = FENIX_REQUEST_NULL;
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
    // The part of one node may have failed.
    const bool is_written = agree(wait_for_flush());
    if (kept_ && !is_written) kept_->is_flushed = false;
    is_good = is_written || kept_;
    if (kept_ && !kept_->is_flushed && parameters_.number("SCR_FLUSH", 10) > 0) is_good = flush(false);
  }
  if (Fenix_Finalize() != FENIX_SUCCESS) is_good = refuse(std::string("Fenix_Finalize: ") + Fenix_Error_message());
  if (repaired_ == nullptr && comm_ != MPI_COMM_NULL && !is_broken_) MPI_Comm_free(&comm_);
  cache_.clear();
  state_ = State::after;
  return is_good;
}

bool Session::form() {
  if (is_broken_) return refuse("a rank has died, and this program does not repair itself");
  if (is_formed_) return true;
  int ranks = 1;
  MPI_Comm_size(comm_, &ranks);
  // Without a repair, copies for other ranks would serve nobody.
  const std::string type = parameters_.get("SCR_COPY_TYPE", repaired_ != nullptr ? "XOR" : "SINGLE");
  const int size = static_cast<int>(std::clamp(parameters_.number("SCR_SET_SIZE", 8), 2L, 128L));
  const int losses = static_cast<int>(std::clamp(parameters_.number("SCR_SET_FAILURES", 2), 1L, 4L));
  std::array<int, 3> values{kXor, FENIX_DATA_SEPARATION_AUTO, std::min(size, ranks)};
  int policy = FENIX_DATA_POLICY_IN_MEMORY_RAID;
  if (ranks == 1 || type == "SINGLE") {
    policy = FENIX_DATA_POLICY_LOCAL;
  } else if (type == "PARTNER" || ranks == 2) {
    values = {kCopies, FENIX_DATA_SEPARATION_AUTO, 0};
  } else if (type == "RS" && ranks > losses) {
    policy = FENIX_DATA_POLICY_REED_SOLOMON;
    values = {FENIX_DATA_SEPARATION_AUTO, std::min(std::max(size, losses + 1), ranks), losses};
  }
  const int depth = static_cast<int>(std::clamp(parameters_.number("SCR_CACHE_SIZE", 1), 1L, 4096L)) - 1;
  int flag = FENIX_SUCCESS;
  int code = Fenix_Data_group_create(kGroup, comm_, 0, depth, policy, values.data(), &flag);
  if (code == FENIX_SUCCESS) code = Fenix_Data_member_define(kGroup, kFiles, nullptr, FENIX_RESIZEABLE, MPI_BYTE);
  if (code != FENIX_SUCCESS) return refuse(std::string("the group for checkpoints: ") + Fenix_Error_message());
  is_formed_ = true;
  // SCR_FLUSH says which ones are flushed. fenix-run sets FENIX_FLUSH.
  (void)Fenix_Data_group_set_flush(kGroup, 0);
  is_resumed_ = flag == FENIX_WARNING_RESUMED;
  if (const auto wanted = parameters_.get("SCR_CURRENT"); wanted && is_resumed_) {
    // If there is no such checkpoint, the newest one stays.
    if (Fenix_Data_fetch(kGroup, label_of(*wanted).c_str(), nullptr) != FENIX_SUCCESS) {
      refuse("SCR_CURRENT: " + std::string(Fenix_Error_message()));
    }
  }
  look();
  return true;
}

void Session::look() {
  std::array<std::byte, kHeadBytes> bytes{};
  const int code = Fenix_Data_member_restore(kGroup, kFiles, bytes.data(), static_cast<int>(bytes.size()),
                                             FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  restart_ = code == FENIX_SUCCESS ? read_head(bytes) : std::nullopt;
  if (!agree(restart_.has_value())) restart_.reset();
  if (!restart_) return;
  datasets_ = restart_->id;
  checkpoints_ = restart_->count;
}

// ------------------------------------------------------------------------------------------------------- agreement

bool Session::agree(bool holds) const {
  int all = holds ? 1 : 0;
  return MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_) == MPI_SUCCESS && all != 0;
}

bool Session::is_same_everywhere(const std::string& name, int flags) const {
  // Smallest and largest hash at once.
  const auto hash = static_cast<long long>(std::hash<std::string>{}(name + std::to_string(flags)) >> 1U);
  std::array<long long, 2> ends{hash, -hash};
  return MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_LONG_LONG, MPI_MIN, comm_) == MPI_SUCCESS &&
         ends[0] == -ends[1];
}

void Session::rest() {
  cache_.clear();
  if (state_ != State::before && state_ != State::after) state_ = State::idle;
}

bool Session::should_exit(int* flag) {
  if (!is(State::idle, "SCR_Should_exit") || flag == nullptr || is_broken_) return false;
  return Fenix_Process_should_halt(flag) == FENIX_SUCCESS || refuse(Fenix_Error_message());
}

bool Session::need_checkpoint(int* flag) {
  if (!is(State::idle, "SCR_Need_checkpoint") || flag == nullptr || !form()) return false;
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
  return Fenix_Data_need_commit(kGroup, flag) == FENIX_SUCCESS || refuse(Fenix_Error_message());
}

// ------------------------------------------------------------------------------------------------------------ files

bool Session::route(const char* name, char* file) {
  if (state_ == State::before || state_ == State::after) return is(State::idle, "SCR_Route_file");
  if (name == nullptr || file == nullptr || *name == 0) return refuse("SCR_Route_file without a name");
  std::string path = name;
  if (state_ != State::idle) {
    const auto relative = prefix_.relative(name);
    if (state_ == State::restart) {
      path = cache_.find(relative.value_or(fs::path(name).filename().string())).string();
      if (path.empty() || ::access(path.c_str(), R_OK) != 0)
        return refuse(std::string("the checkpoint has no file ") + name);
    } else {
      if (!relative) return refuse(std::string("the file ") + name + " is not below " + prefix_.folder().string());
      path = cache_.add(*relative).string();
      if (path.empty()) return refuse(std::string("no folder for ") + name);
    }
  }
  if (path.size() >= SCR_MAX_FILENAME) return refuse("the path is too long: " + path);
  put_name(path, file);
  return true;
}

bool Session::start_output(const char* name, int flags, State wanted) {
  if (!is(State::idle, wanted == State::output ? "SCR_Start_output" : "SCR_Start_checkpoint") || !form()) return false;
  constexpr int kAll = SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT;
  const std::string given = name != nullptr ? name : "";
  const bool is_good = given.size() < SCR_MAX_FILENAME && flags > 0 && (flags & ~kAll) == 0;
  const bool is_same = is_same_everywhere(given, flags);
  if (!is_same || !is_good) return refuse("the name of a dataset is too long, it has no flag, or ranks differ");
  if (!agree(cache_.open())) {
    rest();
    return refuse("no private folder can be made");
  }
  restart_.reset();
  ++datasets_;
  dataset_ = {};
  dataset_.id = datasets_;
  dataset_.flags = static_cast<std::uint32_t>(flags);
  dataset_.name = given.empty() ? "scr.dataset." + std::to_string(datasets_) : given;
  state_ = wanted;
  return true;
}

bool Session::complete_output(bool is_valid, State wanted) {
  if (!is(wanted, wanted == State::output ? "SCR_Complete_output" : "SCR_Complete_checkpoint")) return false;
  const auto& files = cache_.files();
  const bool are_there = std::all_of(files.begin(), files.end(), [](const CachedFile& each) {
    std::error_code error;
    return fs::is_regular_file(each.path, error);
  });
  if (is_valid && !are_there) refuse("a file that SCR_Route_file was asked for is not there");
  bool is_good = agree(is_valid && are_there);
  if (is_good && (dataset_.flags & SCR_FLAG_OUTPUT) != 0)
    is_good = agree(prefix_.publish(dataset_.name, rank_of(comm_), files));
  if (is_good && (dataset_.flags & SCR_FLAG_CHECKPOINT) != 0) is_good = keep();
  rest();
  return is_good;
}

bool Session::keep() {
  dataset_.count = checkpoints_ + 1;
  std::FILE* file = nullptr;
  bool is_staged = Fenix_Data_member_stage_begin(kGroup, kFiles, &file) == FENIX_SUCCESS;
  if (is_staged) {
    const bool is_packed = pack(file, dataset_, cache_.files());
    is_staged = Fenix_Data_member_stage_end(kGroup, kFiles) == FENIX_SUCCESS && is_packed;
  }
  if (!agree(is_staged)) return refuse("some rank cannot take the files of the checkpoint to memory");
  int time_stamp = -1;
  int code = Fenix_Data_member_store(kGroup, kFiles, FENIX_DATA_SUBSET_PRESTAGED);
  if (code == FENIX_SUCCESS) code = Fenix_Data_commit_barrier(kGroup, &time_stamp);
  if (code != FENIX_SUCCESS) return refuse(std::string("commit of the checkpoint: ") + Fenix_Error_message());
  ++checkpoints_;
  kept_ = Kept{dataset_.name, time_stamp, false};
  // The checkpoint is in memory: without its flush it is complete all the same.
  (void)flush_if_due();
  return true;
}

bool Session::flush_if_due() {
  const long every = parameters_.number("SCR_FLUSH", 10);
  const bool is_output = (dataset_.flags & SCR_FLAG_OUTPUT) != 0;
  const bool is_due = is_output || (every > 0 && checkpoints_ % static_cast<std::uint64_t>(every) == 0);
  return !is_due || flush(parameters_.number("SCR_FLUSH_ASYNC", 0) > 0);
}

bool Session::flush(bool in_background) {
  if (!wait_for_flush()) refuse("an earlier flush has failed");
  const std::string label = label_of(kept_->name);
  // A dataset that was chosen for this job must not be that of the next one, when there is a newer one.
  if (!is_current_free_ && rank_of(comm_) == 0) (void)Fenix_Data_dataset_set_current(nullptr);
  is_current_free_ = true;
  const int code = in_background ? Fenix_Data_iflush(kGroup, kept_->time_stamp, label.c_str(), &request_)
                                 : Fenix_Data_flush(kGroup, kept_->time_stamp, label.c_str());
  if (code != FENIX_SUCCESS) return refuse(std::string("flush of the checkpoint: ") + Fenix_Error_message());
  kept_->is_flushed = true;
  return true;
}

bool Session::wait_for_flush() { return Fenix_Data_wait(std::exchange(request_, FENIX_REQUEST_NULL)) == FENIX_SUCCESS; }

// ---------------------------------------------------------------------------------------------------------- restart

bool Session::have_restart(int* flag, char* name) {
  if (!is(State::idle, "SCR_Have_restart") || flag == nullptr || !form()) return false;
  *flag = restart_ ? 1 : 0;
  if (restart_) put_name(restart_->name, name);
  return true;
}

bool Session::start_restart(char* name) {
  if (!is(State::idle, "SCR_Start_restart") || !form()) return false;
  if (!restart_) return refuse("there is no checkpoint to go on from");
  state_ = State::restart;
  std::vector<std::byte> bytes;
  bool is_good = true;
  try {
    bytes.resize(kHeadBytes + restart_->bytes);
  } catch (const std::exception&) {
    is_good = false;
  }
  // A rank without memory takes part all the same.
  const int code = Fenix_Data_member_restore_c(kGroup, kFiles, is_good ? bytes.data() : nullptr,
                                               is_good ? static_cast<MPI_Count>(bytes.size()) : 0,
                                               FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  if (state_ != State::restart) return false;
  is_good = is_good && code == FENIX_SUCCESS && cache_.open() && unpack(bytes, cache_);
  if (!agree(is_good)) {
    refuse("some rank cannot unpack its files");
    // Ranks agree on it once more, and go to an older one.
    return complete_restart(false);
  }
  put_name(restart_->name, name);
  return true;
}

bool Session::complete_restart(bool is_valid) {
  if (!is(State::restart, "SCR_Complete_restart")) return false;
  const bool all_are = agree(is_valid);
  rest();
  if (!is_formed_) return false;
  restart_.reset();
  if (is_resumed_) {
    const int code = Fenix_Data_restart_done(kGroup, all_are ? 1 : 0);
    if (code == FENIX_WARNING_RESUMED) look();
  }
  return all_are;
}

// --------------------------------------------------------------------------------------------------------- datasets

bool Session::set_current(const char* name) {
  if (!is(State::idle, "SCR_Current") || name == nullptr || !form()) return false;
  bool is_done = true;
  if (rank_of(comm_) == 0) {
    const auto found = datasets_with(label_of(name));
    is_done = !found.empty() && Fenix_Data_dataset_set_current(found.front().c_str()) == FENIX_SUCCESS;
  }
  is_current_free_ = false;
  return agree(is_done) || refuse(std::string("the store has no checkpoint ") + name);
}

bool Session::remove(const char* name, bool files_stay) {
  if (!is(State::idle, files_stay ? "SCR_Drop" : "SCR_Delete") || name == nullptr || !form()) return false;
  if (kept_ && kept_->name == name) {
    (void)wait_for_flush();
    kept_->is_flushed = true;  // it is not wanted any more
  }
  bool is_found = true;
  if (rank_of(comm_) == 0) {
    is_found = prefix_.forget(name, files_stay);
    for (const std::string& each : datasets_with(label_of(name))) {
      is_found = Fenix_Data_dataset_delete(each.c_str()) == FENIX_SUCCESS || is_found;
    }
  }
  return agree(is_found) || refuse(std::string("there is no dataset ") + name);
}

}  // namespace scr_impl
