// SPDX-License-Identifier: BSD-3-Clause
#include "store/store.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include "store/manifest.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kRun = "run.";
constexpr const char* kFinished = "finished\n";
constexpr const char* kTried = "tried.";
constexpr const char* kCurrent = "current";

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

std::uint32_t Store::latest_run() const {
  std::uint32_t run = 0;
  for (const std::string& name : files_.list(root_)) {
    const auto dataset = DatasetName::parse(name);
    run = std::max(run, dataset ? dataset->run : run_in(name));
  }
  return run;
}

void Store::finish_run(std::uint32_t run) {
  const std::string text = kFinished;
  write_durably(files_, root_, run_file(run), run_file(run) + ".tmp", std::as_bytes(std::span(text)));
}

bool Store::has_finished(std::uint32_t run) const {
  const auto bytes = read_whole(files_, root_ + "/" + run_file(run));
  return bytes && std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == kFinished;
}

std::uint32_t Store::begin_run() {
  std::uint32_t run = latest_run();
  do {
    ++run;
  } while (!files_.create(root_ + "/" + run_file(run), FileSystem::Use::small));
  files_.sync_folder(root_);
  return run;
}

std::vector<DatasetName> Store::datasets() const {
  std::vector<DatasetName> found;
  for (const std::string& name : files_.list(root_)) {
    if (const auto dataset = DatasetName::parse(name)) found.push_back(*dataset);
  }
  std::sort(found.begin(), found.end(), [](const DatasetName& a, const DatasetName& b) { return is_older(b, a); });
  return found;
}

std::vector<DatasetName> Store::datasets(std::int32_t group) const {
  auto found = datasets();
  std::erase_if(found, [group](const DatasetName& each) { return each.group != group; });
  return found;
}

std::optional<DatasetPlan> Store::complete(const DatasetName& name) const {
  const auto dataset = Dataset::open(files_, root_, name);
  if (!dataset) return std::nullopt;
  const auto manifest = read_whole(files_, root_ + "/" + name.text() + "/manifest");
  const bool is_listed = manifest && decode_manifest(name, *manifest);
  if (!is_listed && !dataset->missing().empty()) return std::nullopt;
  return dataset->plan();
}

std::optional<DatasetPlan> Store::find(std::int32_t group, const std::string& label,
                                       std::span<const DatasetName> passed_over) const {
  auto names = datasets(group);
  // Runs are counted from 1 on: there is no dataset with the empty name.
  const DatasetName chosen = label.empty() ? current().value_or(DatasetName{}) : DatasetName{};
  // Datasets that were tried too often come last: to begin anew would be worse.
  std::stable_partition(names.begin(), names.end(), [&](const DatasetName& name) { return tries(name) < kMostTries; });
  const auto first = std::find(names.begin(), names.end(), chosen);
  if (first != names.end()) std::rotate(names.begin(), first, first + 1);
  for (const DatasetName& name : names) {
    if (std::find(passed_over.begin(), passed_over.end(), name) != passed_over.end()) continue;
    auto plan = complete(name);
    const bool is_wanted = plan && (label.empty() || plan->label == label || name.text() == label);
    if (is_wanted) return plan;
  }
  return std::nullopt;
}

// Marks are empty files: whether one survives a crash makes little difference.
void Store::note_try(const DatasetName& name, std::uint32_t run) {
  (void)files_.create(root_ + "/" + name.text() + "/" + kTried + std::to_string(run), FileSystem::Use::small);
}

void Store::forget_tries(const DatasetName& name) {
  const std::string folder = root_ + "/" + name.text();
  for (const std::string& file : files_.list(folder)) {
    if (file.rfind(kTried, 0) == 0) files_.remove(folder + "/" + file);
  }
}

std::size_t Store::tries(const DatasetName& name) const {
  const auto files = files_.list(root_ + "/" + name.text());
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const std::string& file) { return file.rfind(kTried, 0) == 0; }));
}

void Store::set_current(const std::optional<DatasetName>& name) {
  if (!name) {
    files_.remove(root_ + "/" + kCurrent);
    files_.sync_folder(root_);
    return;
  }
  const std::string text = name->text();
  write_durably(files_, root_, kCurrent, std::string(kCurrent) + ".tmp",
                seal(SealedKind::current, "", std::as_bytes(std::span(text))));
}

std::optional<DatasetName> Store::current() const {
  const auto file = read_whole(files_, root_ + "/" + kCurrent);
  const auto body = file ? unseal(SealedKind::current, "", *file) : std::nullopt;
  if (!body) return std::nullopt;
  return DatasetName::parse({reinterpret_cast<const char*>(body->data()), body->size()});
}

void Store::prune(std::int32_t group, std::uint32_t kept) {
  const DatasetName chosen = current().value_or(DatasetName{});
  std::uint32_t complete_ones = 0;
  for (const DatasetName& name : datasets(group)) {
    const auto plan = complete(name);
    if (plan) ++complete_ones;
    // A newer one than the newest complete one may be under way.
    const bool is_old =
        plan ? kept > 0 && complete_ones > kept && plan->label.empty() && name != chosen : complete_ones > 0;
    if (is_old) remove(name);
  }
}

// The manifest goes first, since it says that all is there. The rest goes in any order: a dataset that lacks a file is not complete.
void Store::remove(const DatasetName& name) {
  const std::string folder = root_ + "/" + name.text();
  const auto names = files_.list(folder);
  if (std::find(names.begin(), names.end(), "manifest") != names.end()) {
    files_.remove(folder + "/manifest");
    files_.sync_folder(folder);
  }
  for (const std::string& file : files_.list(folder)) files_.remove(folder + "/" + file);
  files_.remove_folder(folder);
  files_.sync_folder(root_);
}

}  // namespace fenix_impl
