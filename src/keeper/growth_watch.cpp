// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/growth_watch.hpp"

namespace fenix_impl {

std::uint64_t bytes_of(FileSystem& files, const std::string& root, const DatasetName& name) {
  const std::string folder = root + "/" + name.text();
  std::uint64_t bytes = 0;
  for (const std::string& file_name : files.list(folder)) {
    const auto file = files.open(folder + "/" + file_name, FileSystem::Use::small);
    if (file) bytes += 1 + file->size();
  }
  return bytes;
}

bool GrowthWatch::may_grow(FileSystem& files, const std::string& root, const DatasetName& name) {
  Seen& seen = seen_[name];
  if (seen.is_over) return false;
  try {
    const std::uint64_t bytes = bytes_of(files, root, name);
    const auto now = Clock::now();
    if (bytes != seen.bytes) seen = {bytes, now, false};
    // An empty folder is as good as none.
    seen.is_over = bytes == 0 || now - seen.changed > quiet_;
  } catch (const StoreError&) {
    seen.is_over = true;
  }
  return !seen.is_over;
}

}  // namespace fenix_impl
