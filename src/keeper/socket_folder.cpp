// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/socket_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>

namespace fenix_impl {
namespace {

constexpr std::string_view kLock = ".lock";
constexpr mode_t kMode = 0700;
constexpr mode_t kOfOthers = 077;
constexpr mode_t kWrittenByOthers = 022;

[[noreturn]] void fail_at(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

std::string usual_name() { return "fenix-keeper-" + std::to_string(::geteuid()); }

// Names with a number are for the case that others have taken the usual one.
std::string numbered_name(std::uint64_t number) {
  return number == 0 ? usual_name() : usual_name() + "." + std::to_string(number);
}

/// Returns the number of a name, or nullopt if it is none of this user's.
std::optional<std::uint64_t> number_in(std::string_view name) {
  const std::string usual = usual_name();
  if (name == usual) return 0;
  if (name.substr(0, usual.size() + 1) != usual + ".") return std::nullopt;
  const std::string_view rest = name.substr(usual.size() + 1);
  std::uint64_t number = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const bool is_good = result.ec == std::errc() && result.ptr == rest.data() + rest.size();
  return is_good ? std::optional(number) : std::nullopt;
}

/// Whether nobody else can do anything in a folder. A link is none.
bool is_own(const std::string& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & kOfOthers) == 0;
}

/// Whether others cannot rename what this user has in a folder.
bool keeps_names(const std::string& place) {
  struct stat status {};
  if (::stat(place.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  const bool has_good_owner = status.st_uid == 0 || status.st_uid == ::geteuid();
  return has_good_owner && ((status.st_mode & kWrittenByOthers) == 0 || (status.st_mode & S_ISVTX) != 0);
}

// All processes take the one with the smallest number.
std::optional<std::string> find_in(const std::string& place) {
  const std::string usual = place + "/" + usual_name();
  if (is_own(usual)) return usual;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(place.c_str()), &::closedir);
  if (!folder) return std::nullopt;
  std::optional<std::uint64_t> best;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto number = number_in(entry->d_name);
    if (number && (!best || *number < *best) && is_own(place + "/" + entry->d_name)) best = number;
  }
  return best ? std::optional(place + "/" + numbered_name(*best)) : std::nullopt;
}

// Others may have taken any name that they can guess.
void make_in(const std::string& place) {
  constexpr std::uint64_t kGuessable = 16;
  std::random_device random;
  for (std::uint64_t number = 0;; ++number) {
    const bool may_be_taken = number < kGuessable;
    const std::uint64_t chosen = may_be_taken ? number : (std::uint64_t{random()} << 32U | random()) >> 1U;
    const std::string path = place + "/" + numbered_name(chosen);
    if (::mkdir(path.c_str(), kMode) == 0) {
      // Whatever the umask has left of the mode.
      (void)::chmod(path.c_str(), kMode);
      return;
    }
    if (errno != EEXIST || number > 2 * kGuessable) fail_at(errno, "making the folder " + path);
    // Another process of this user has been faster.
    if (is_own(path)) return;
  }
}

// A keeper that ends removes an empty folder: also one that this process has just made.
std::optional<std::string> make_and_find_in(const std::string& place) {
  constexpr int kMostFolders = 100;
  for (int made = 0; made < kMostFolders; ++made) {
    make_in(place);
    // Another process may have made one with a smaller number.
    if (auto found = find_in(place)) return found;
  }
  return std::nullopt;
}

bool is_lasting(int error) { return error == EROFS || error == EACCES || error == EPERM || error == ENOENT; }

/// Whether the locked file is still the one that others would lock.
bool is_at(const Descriptor& file, const std::string& path) {
  struct stat here {};
  struct stat there {};
  return ::fstat(file.get(), &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

void remove_stale(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()), &::closedir);
  if (!names) return;
  while (const dirent* entry = ::readdir(names.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() <= kLock.size() || name.substr(name.size() - kLock.size()) != kLock) continue;
    const std::string path = folder + "/" + std::string(name.substr(0, name.size() - kLock.size()));
    if (const Descriptor lock = lock_name(path)) {
      ::unlink(path.c_str());
      ::unlink((path + std::string(kLock)).c_str());
    }
  }
}

}  // namespace

std::span<const std::string> places_of_sockets() {
  static const std::array<std::string, 2> places{"/tmp", "/dev/shm"};
  return places;
}

std::optional<std::string> find_socket_folder(std::span<const std::string> places) {
  for (const std::string& place : places) {
    if (!keeps_names(place)) continue;
    if (auto found = find_in(place)) return found;
  }
  return std::nullopt;
}

std::string make_socket_folder(std::span<const std::string> places) {
  if (auto found = find_socket_folder(places)) return *found;
  int error = ENOENT;
  std::string tried;
  for (const std::string& place : places) {
    tried += " " + place;
    if (!keeps_names(place)) continue;
    try {
      if (auto found = make_and_find_in(place)) return *found;
    } catch (const std::system_error& refused) {
      error = refused.code().value();
      if (!is_lasting(error)) throw;
    }
  }
  fail_at(error, "no folder for sockets can be made in" + tried);
}

Descriptor lock_name(const std::string& path) {
  constexpr int kLeastNumber = 16;
  const std::string lock = path + std::string(kLock);
  const Descriptor opened(::open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  // The folder may have been removed since it was looked for.
  if (!opened && errno == ENOENT) return {};
  if (!opened) fail_at(errno, "opening " + lock);
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(opened, lock)) return {};
  // Beyond the numbers that a new process has for it.
  Descriptor locked(::fcntl(opened.get(), F_DUPFD_CLOEXEC, kLeastNumber));
  if (!locked) fail_at(errno, "a descriptor of " + lock);
  return locked;
}

void remove_name(const std::string& path) noexcept {
  try {
    ::unlink(path.c_str());
    ::unlink((path + std::string(kLock)).c_str());
    const std::string folder = path.substr(0, path.rfind('/'));
    remove_stale(folder);
    ::rmdir(folder.c_str());
  } catch (const std::exception&) {
    // The rest is of this user alone, and the next keeper of the store uses it.
  }
}

}  // namespace fenix_impl
