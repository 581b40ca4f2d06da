// SPDX-License-Identifier: BSD-3-Clause
#include "scr/prefix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "scr/file_copy.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Removes a file below an open folder, and the folders between that are empty then. Each is opened in the one above it, and no link is
/// followed: what is elsewhere stays.
void remove_below(int folder, fs::path::const_iterator part, const fs::path::const_iterator& end) {
  const auto next = std::next(part);
  if (next == end) {
    (void)::unlinkat(folder, part->c_str(), 0);
    return;
  }
  const int below = ::openat(folder, part->c_str(), kFolder);
  if (below < 0) return;
  remove_below(below, next, end);
  ::close(below);
  // It fails for a folder that has other files.
  (void)::unlinkat(folder, part->c_str(), AT_REMOVEDIR);
}

}  // namespace

bool Prefix::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  folder_ = fs::canonical(folder, error);
  return !error && fs::is_directory(folder_, error);
}

std::optional<std::string> Prefix::relative(const char* name) const {
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

void Prefix::remove(const std::vector<std::string>& names) const {
  const int top = ::open(folder_.c_str(), kFolder);
  if (top < 0) return;
  for (const std::string& name : names) {
    const fs::path path(name);
    const bool is_inside = path.is_relative() && !path.empty() &&
                           std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
    if (is_inside) remove_below(top, path.begin(), path.end());
  }
  ::close(top);
}

}  // namespace scr_impl
