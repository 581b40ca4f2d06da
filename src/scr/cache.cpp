// SPDX-License-Identifier: BSD-3-Clause
#include "scr/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <system_error>

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr int kMostTries = 8;

std::string beginning_of_names() { return "scr-fenix." + std::to_string(::geteuid()) + "."; }

int open_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

bool is_own(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid();
}

// Whether the last parts of a path are those of another one.
bool ends_with(const std::string& path, const std::string& last) {
  const std::string with_slash = "/" + last;
  return path.size() > with_slash.size() &&
         path.compare(path.size() - with_slash.size(), with_slash.size(), with_slash) == 0;
}

}  // namespace

void Cache::sweep() const {
  for (const fs::path& base : bases_) {
    std::error_code error;
    for (fs::directory_iterator each(base, error), end; !error && each != end; each.increment(error)) {
      if (each->path().filename().string().rfind(beginning_of_names(), 0) != 0) continue;
      const int folder = open_folder(each->path());
      if (folder < 0) continue;
      // A living process holds the lock, and the system releases it when the process dies.
      std::error_code ignored;
      if (is_own(folder) && ::flock(folder, LOCK_EX | LOCK_NB) == 0) fs::remove_all(each->path(), ignored);
      ::close(folder);
    }
  }
}

bool Cache::make(const fs::path& base) {
  for (int i = 0; i < kMostTries; ++i) {
    std::string name = (base / (beginning_of_names() + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return false;
    const int folder = open_folder(name);
    const bool is_locked = folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) == 0;
    // Another process that sweeps may have come between: then it removes this folder. File systems without locks are not swept.
    const bool is_lost = !is_locked && (folder < 0 || errno == EWOULDBLOCK);
    if (!is_lost && ::access(name.c_str(), W_OK) == 0) {
      folder_ = name;
      lock_ = folder;
      return true;
    }
    if (folder >= 0) ::close(folder);
  }
  return false;
}

bool Cache::open() {
  clear();
  return std::any_of(bases_.begin(), bases_.end(), [this](const fs::path& base) { return make(base); });
}

void Cache::open_in_place(const fs::path& prefix) {
  clear();
  prefix_ = prefix;
}

void Cache::clear() {
  files_.clear();
  prefix_.clear();
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  if (lock_ >= 0) ::close(lock_);
  folder_.clear();
  lock_ = -1;
}

fs::path Cache::add(const std::string& name) {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const CachedFile& each) { return each.name == name; });
  if (found != files_.end()) return found->path;
  if (is_in_place()) {
    const fs::path path = prefix_ / name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return {};
    note(name);
    return path;
  }
  // Programs look at the last part of the path, which stays. Each file has a folder: last parts may be equal.
  const fs::path folder = folder_ / std::to_string(files_.size());
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return {};
  files_.push_back({name, folder / fs::path(name).filename()});
  return files_.back().path;
}

// A program may ask by the last part alone, which is all that SCR looks at in its cache. In its own place a file has its folder: the last
// parts must be the same, as another folder means another file, which may not be there.
fs::path Cache::find(const std::string& name) const {
  const auto named =
      std::find_if(files_.begin(), files_.end(), [&](const CachedFile& each) { return each.name == name; });
  if (named != files_.end()) return named->path;
  const auto ends_so = [&](const CachedFile& each) {
    return is_in_place() ? ends_with(each.name, name) : each.path.filename() == fs::path(name).filename();
  };
  const auto only = std::find_if(files_.begin(), files_.end(), ends_so);
  const bool is_clear = only != files_.end() && std::none_of(std::next(only), files_.end(), ends_so);
  return is_clear ? only->path : fs::path();
}

}  // namespace scr_impl
