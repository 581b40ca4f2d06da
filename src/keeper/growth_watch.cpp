// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/growth_watch.hpp"

namespace fenix_impl {
namespace {

/// Returns a number that changes when files come, go or grow.
std::uint64_t size_of(FileSystem& files, const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const std::string& name : files.list(folder)) {
    const auto file = files.open(folder + "/" + name, FileSystem::Use::small);
    if (file) bytes += 1 + file->size();
  }
  return bytes;
}

}  // namespace

bool GrowthWatch::may_grow(FileSystem& files, const std::string& root, const DatasetName& name) {
  Seen& seen = seen_[name];
  if (seen.is_over) return false;
  try {
    const std::uint64_t bytes = size_of(files, root + "/" + name.text());
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
