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
  const auto now = Clock::now();
  Seen& seen = seen_.try_emplace(name, Seen{0, now, false}).first->second;
  if (seen.is_over) return false;
  try {
    // An empty folder may have been made a moment ago.
    const std::uint64_t bytes = bytes_of(files, root, name);
    if (bytes != seen.bytes) seen = {bytes, now, false};
    seen.is_over = now - seen.changed > quiet_;
  } catch (const StoreError&) {
    seen.is_over = true;
  }
  return !seen.is_over;
}

}  // namespace fenix_impl
