// SPDX-License-Identifier: BSD-3-Clause
#include "store/store.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace fenix_impl {
namespace {

constexpr const char* kRun = "run.";

std::string run_file(std::uint32_t run) { return kRun + std::to_string(run); }

/// Returns the number of a run's file, or 0 for other names.
std::uint32_t run_in(const std::string& name) {
  if (name.rfind(kRun, 0) != 0) return 0;
  std::uint32_t run = 0;
  const char* const end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + std::char_traits<char>::length(kRun), end, run);
  return result.ec == std::errc() && result.ptr == end ? run : 0;
}

}  // namespace

std::uint32_t Store::begin_run() {
  std::uint32_t run = 0;
  for (const std::string& name : files_.list(root_)) {
    const auto dataset = DatasetName::parse(name);
    run = std::max(run, dataset ? dataset->run : run_in(name));
  }
  do {
    ++run;
  } while (!files_.create(root_ + "/" + run_file(run), FileSystem::Use::small));
  files_.sync_folder(root_);
  return run;
}

std::vector<DatasetName> Store::datasets(std::int32_t group) const {
  std::vector<DatasetName> found;
  for (const std::string& name : files_.list(root_)) {
    const auto dataset = DatasetName::parse(name);
    if (dataset && dataset->group == group) found.push_back(*dataset);
  }
  std::sort(found.begin(), found.end(), [](const DatasetName& a, const DatasetName& b) {
    return std::tie(a.run, a.time_stamp) > std::tie(b.run, b.time_stamp);
  });
  return found;
}

// In any order: a dataset that lacks a file is not complete.
void Store::remove(const DatasetName& name) {
  const std::string folder = root_ + "/" + name.text();
  for (const std::string& file : files_.list(folder)) files_.remove(folder + "/" + file);
  files_.remove_folder(folder);
  files_.sync_folder(root_);
}

}  // namespace fenix_impl
