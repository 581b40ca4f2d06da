// SPDX-License-Identifier: BSD-3-Clause
#include "scr/prefix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "scr/file_copy.hpp"
#include "scr/patience.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Whether an error says that there is no such file, or that a link leads to it.
bool is_none(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EISDIR; }

/// Removes a file below an open folder, and the folders between that are empty then. Each is opened in the one above it, and no link is
/// followed: what is elsewhere stays. Returns false if the file stays that should go.
bool remove_below(int folder, fs::path::const_iterator part, const fs::path::const_iterator& end) {
  const auto next = std::next(part);
  if (next == end) return ::unlinkat(folder, part->c_str(), 0) == 0 || is_none(errno);
  const int below = ::openat(folder, part->c_str(), kFolder);
  if (below < 0) return is_none(errno);
  const bool is_gone = remove_below(below, next, end);
  ::close(below);
  // It fails for a folder that has other files.
  (void)::unlinkat(folder, part->c_str(), AT_REMOVEDIR);
  return is_gone;
}

}  // namespace

bool Prefix::open(const fs::path& folder) {
  const auto found = in_time([folder] {
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path real = fs::canonical(folder, error);
    return !error && fs::is_directory(real, error) ? std::optional(real) : std::nullopt;
  });
  if (!found || !*found) return false;
  folder_ = **found;
  return true;
}

// Links of folders have to be looked at.
std::optional<std::string> Prefix::relative(const char* name) const {
  return in_time([self = *this, wanted = std::string(name)] { return self.look_for(wanted); }).value_or(std::nullopt);
}

std::optional<std::string> Prefix::look_for(const std::string& name) const {
  std::error_code error;
  const fs::path absolute = fs::absolute(name, error);
  if (error || !absolute.has_filename()) return std::nullopt;
  // The file itself may be a link, which an output replaces.
  const fs::path parent = fs::weakly_canonical(absolute.parent_path(), error);
  if (error) return std::nullopt;
  const fs::path relative = (parent / absolute.filename()).lexically_relative(folder_);
  const bool is_inside =
      !relative.empty() && *relative.begin() != ".." && relative.filename() != "." && relative.filename() != "..";
  return is_inside ? std::optional(relative.string()) : std::nullopt;
}

std::optional<std::string> Prefix::publish(const std::vector<CachedFile>& files) const {
  for (const CachedFile& each : files) {
    if (!copy_durably(each.path, folder_ / each.name)) return each.name;
  }
  return std::nullopt;
}

bool Prefix::remove(const std::vector<std::string>& names) const {
  const int top = ::open(folder_.c_str(), kFolder);
  if (top < 0) return is_none(errno);
  bool are_gone = true;
  for (const std::string& name : names) {
    const fs::path path(name);
    const bool is_inside = path.is_relative() && !path.empty() &&
                           std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
    if (is_inside) are_gone = remove_below(top, path.begin(), path.end()) && are_gone;
  }
  ::close(top);
  return are_gone;
}

}  // namespace scr_impl
