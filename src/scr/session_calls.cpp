// SPDX-License-Identifier: BSD-3-Clause
// The calls between begin and end.
#include <scr.h>

#include <filesystem>

#include "scr/file_copy.hpp"
#include "scr/kind.hpp"
#include "scr/patience.hpp"
#include "scr/session.hpp"
#include "scr/stored.hpp"

namespace scr_impl {

bool Session::should_exit(int* flag) {
  if (!is(State::idle, "SCR_Should_exit") || job_.is_broken) return false;
  if (flag == nullptr) return refuse("SCR_Should_exit without a flag");
  return Fenix_Process_should_halt(flag) == FENIX_SUCCESS || job_.fail("SCR_Should_exit");
}

bool Session::need_checkpoint(int* flag) {
  if (flag == nullptr) return refuse("SCR_Need_checkpoint without a flag");
  *flag = 0;
  if (!is(State::idle, "SCR_Need_checkpoint") || !form()) return false;
  if (Fenix_Process_should_halt(flag) != FENIX_SUCCESS) return job_.fail("SCR_Need_checkpoint");
  if (*flag != 0) return true;
  if (!has_commit_limit()) {
    *flag = 1;
    return true;
  }
  return Fenix_Data_need_commit(kGroup, flag) == FENIX_SUCCESS || job_.fail("SCR_Need_checkpoint");
}

bool Session::route(const char* name, char* file) {
  if (name == nullptr || file == nullptr || *name == 0) return refuse("SCR_Route_file without a name or a buffer");
  std::string path = name;
  if (state_ == State::restart) {
    path = restart_.path_of(name);
    // Programs ask for files that may be there.
    if (path.empty()) return job_.tell(std::string("the checkpoint has no file ") + name);
  } else if (state_ == State::output || state_ == State::checkpoint) {
    const auto relative = job_.prefix.relative(name);
    const char* const why = is_stuck() ? " cannot be looked for in time below " : " is not below ";
    if (!relative) return refuse(std::string("the file ") + name + why + job_.prefix.folder().string());
    if (*std::filesystem::path(*relative).begin() == kControlFolder)
      return refuse(std::string("the file ") + name + " is in the folder " + kControlFolder + " of this library");
    if (is_unfinished_name(std::filesystem::path(*relative).filename().string()))
      return refuse(std::string("the file ") + name + " has a name that this library needs: .NAME.scr-fenix.tmp");
    path = cache_.add(*relative).string();
    if (path.empty()) return refuse(std::string("no folder can be made for ") + name);
  }
  if (path.size() >= SCR_MAX_FILENAME) return refuse("the path is too long: " + path);
  put_name(path, file);
  return true;
}

bool Session::have_restart(int* flag, char* name) {
  if (flag == nullptr) return refuse("SCR_Have_restart without a flag");
  *flag = 0;
  if (!is(State::idle, "SCR_Have_restart") || !form()) return false;
  if (!restart_.find()) return false;
  *flag = restart_.head() ? 1 : 0;
  if (restart_.head()) put_name(restart_.head()->name, name);
  return true;
}

bool Session::start_restart(char* name) {
  if (!is(State::idle, "SCR_Start_restart") || !form()) return false;
  if (!restart_.find()) return false;
  if (!restart_.head()) return job_.refuse_together("SCR_Start_restart: there is no checkpoint to go on from");
  const PackageHead head = *restart_.head();
  const bool is_good = restart_.open(head);
  if (!job_.is_formed) return false;
  state_ = State::restart;
  if (!agree(job_.comm, is_good)) {
    if (job_.is_formed) (void)job_.refuse_together("checkpoint " + head.name + ": some rank cannot unpack its files");
    // Ranks agree on it once more, and go to an older one.
    return complete_restart(false);
  }
  put_name(head.name, name);
  return true;
}

bool Session::complete_restart(bool is_valid) {
  if (!is(State::restart, "SCR_Complete_restart")) return false;
  const bool all_are = agree(job_.comm, is_valid);
  rest();
  return job_.is_formed && restart_.complete(all_are);
}

bool Session::start_output(const char* name, int flags, State wanted) {
  if (!is(State::idle, wanted == State::output ? "SCR_Start_output" : "SCR_Start_checkpoint") || !form()) return false;
  const std::string given = name != nullptr ? name : "";
  if (!output_.begin(given, flags)) return false;
  cache_.clear();
  if (job_.settings.bypasses) {
    cache_.open_in_place(job_.prefix.folder());
  } else if (!agree(job_.comm, cache_.open())) {
    rest();
    return job_.refuse_together("no private folder can be made, in SCR_CACHE_BASE, /dev/shm, TMPDIR or /tmp");
  }
  // A program that asks once more goes on from what it writes now.
  restart_.search_anew();
  state_ = wanted;
  return true;
}

bool Session::complete_output(bool is_valid, State wanted) {
  if (!is(wanted, wanted == State::output ? "SCR_Complete_output" : "SCR_Complete_checkpoint")) return false;
  std::vector<std::string> names;
  for (const CachedFile& each : cache_.files()) names.push_back(each.name);
  bool is_good = agree(job_.comm, is_valid);
  if (is_good) {
    const auto shared = compare_files(job_.comm, names);
    if (!shared) {
      is_good = job_.repaired != nullptr ? false : job_.refuse_together("the names of files cannot be compared");
    } else {
      is_good = output_.complete(*shared);
    }
  }
  if (!is_good && state_ == wanted && is_checkpoint(output_.head())) --job_.numbers.checkpoints;
  rest();
  if (is_good && is_checkpoint(output_.head())) exit_if_told();
  return is_good;
}

bool Session::set_current(const char* name) {
  if (!is(State::idle, "SCR_Current") || !form()) return false;
  if (name == nullptr || *name == 0) return refuse("SCR_Current without a name");
  const Restart::Choice choice = restart_.choose(name);
  if (!job_.is_formed) return false;
  if (choice == Restart::Choice::unknown)
    return job_.refuse_together(std::string("SCR_Current: the store does not say whether it has ") + name);
  if (choice == Restart::Choice::missing)
    (void)job_.tell(std::string("SCR_Current: there is no checkpoint ") + name + " in the store");
  return true;
}

bool Session::remove(const char* name, bool files_stay) {
  const char* const call = files_stay ? "SCR_Drop" : "SCR_Delete";
  if (!is(State::idle, call) || !form()) return false;
  if (name == nullptr || *name == 0) return refuse(std::string(call) + " without a name");
  flushes_.give_up(name);
  if (!job_.is_formed || !snapshots_.remove(name)) return false;
  if (restart_.head() && restart_.head()->name == name) restart_.search_anew();
  const bool is_gone = !job_.is_first() || catalog_.remove(name, files_stay);
  if (!is_gone) (void)refuse(std::string(call) + ": " + name + " cannot be removed");
  // Other ranks may look for it at once.
  return agree(job_.comm, is_gone);
}

}  // namespace scr_impl
