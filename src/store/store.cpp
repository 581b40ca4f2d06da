// SPDX-License-Identifier: BSD-3-Clause
#include "store/store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string_view>

#include "base/log.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kRun = "run.";
// No job comes so far: what has such a number is no run.
constexpr std::uint32_t kEndOfRuns = 4'000'000'000;
// Both have the same length: the end of a run is written over its beginning, which needs no room on the disk.
constexpr std::string_view kBegun = "running \n";
constexpr std::string_view kFinished = "finished\n";
static_assert(kBegun.size() == kFinished.size());
constexpr const char* kCurrent = "current";
constexpr const char* kRemoved = "removed.";
constexpr const char* kId = "id";
constexpr std::size_t kIdBytes = 17;            // hexadecimal digits, and the end of the line
constexpr std::uint64_t kMostTextBytes = 4096;  // of a file of this library
using dataset_files::kTried;

std::string run_file(std::uint32_t run) { return kRun + std::to_string(run); }

/// Returns the number of a run's file, or 0 for other names.
std::uint32_t run_in(const std::string& name) {
  if (name.rfind(kRun, 0) != 0) return 0;
  std::uint32_t run = 0;
  const char* const end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + std::char_traits<char>::length(kRun), end, run);
  return result.ec == std::errc() && result.ptr == end ? run : 0;
}

/// Whether a name is there that this user has not made as a file.
bool is_of_others(const StoreError& error) {
  const int reasons[] = {EPERM, EACCES, EINVAL, ELOOP};
  return std::find(std::begin(reasons), std::end(reasons), error.error()) != std::end(reasons);
}

void note_beginning(StoreFile& file) {
  try {
    file.write(0, std::as_bytes(std::span(kBegun)));
    file.sync();
  } catch (const StoreError&) {
    // A full disk stops no job: what is in the store can be read, and the end of the run may find room.
  }
}

}  // namespace

std::uint32_t Store::latest_run() const {
  std::uint32_t run = 0;
  for (const std::string& name : files_.list(root_)) {
    const auto dataset = DatasetName::parse(name);
    const std::uint32_t found = dataset ? dataset->run : run_in(name);
    if (found < kEndOfRuns) run = std::max(run, found);
  }
  return run;
}

void Store::finish_run(std::uint32_t run) {
  const auto text = std::as_bytes(std::span(kFinished));
  const auto file = files_.modify(root_ + "/" + run_file(run));
  if (!file) return write_durably(files_, root_, run_file(run), run_file(run) + ".tmp", text);
  file->write(0, text);
  file->sync();
}

// Numbers follow each other, as long as all jobs have files. What others have put there is no run, and is passed over when runs get their
// numbers.
bool Store::has_successor(std::uint32_t run) const {
  constexpr std::uint32_t kMostPassedOver = 1000;
  for (std::uint32_t next = run + 1; next <= run + kMostPassedOver; ++next) {
    try {
      return files_.open(root_ + "/" + run_file(next), FileSystem::Use::small) != nullptr;
    } catch (const StoreError& error) {
      if (!is_of_others(error)) throw;
    }
  }
  return false;
}

bool Store::has_finished(std::uint32_t run) const {
  const auto bytes = read_whole(files_, root_ + "/" + run_file(run), kMostTextBytes);
  return bytes && std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == kFinished;
}

namespace {

/// Whether a store takes no new files, and may be read all the same.
bool takes_nothing(const StoreError& error) {
  const int reasons[] = {EROFS, EACCES, EPERM, ENOSPC, EDQUOT};
  return std::find(std::begin(reasons), std::end(reasons), error.error()) != std::end(reasons);
}

std::optional<std::uint64_t> id_in(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::uint64_t id = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  const bool is_whole = text.size() == kIdBytes && read.ptr == text.data() + kIdBytes - 1 && text.back() == '\n';
  return is_whole && id != 0 ? std::optional(id) : std::nullopt;
}

std::string new_id() {
  std::random_device random;
  const std::uint64_t id = (std::uint64_t{random()} << 32U | random()) | 1U;
  std::array<char, kIdBytes + 1> text{};
  (void)std::snprintf(text.data(), text.size(), "%016llx\n", static_cast<unsigned long long>(id));
  return text.data();
}

}  // namespace

StoreRun Store::begin_run() {
  StoreRun run{0, latest_run(), 0};
  try {
    std::unique_ptr<StoreFile> file;
    do {
      file = files_.create(root_ + "/" + run_file(++run.number), FileSystem::Use::small);
    } while (!file);
    note_beginning(*file);
    files_.sync_folder(root_);
  } catch (const StoreError& error) {
    if (!takes_nothing(error)) throw;
    log().info("store: {}", error.what());
    // The number of the next one that has a file: nothing of this run is ever written.
    run.number = latest_run() + 1;
    run.only_reads = 1;
  }
  run.store = own_id();
  return run;
}

// Otherwise each start of a job on a full disk would leave one.
void Store::remove_if_possible(const std::string& file) noexcept {
  try {
    files_.remove(root_ + "/" + file);
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
  }
}

// Two jobs that begin at once may both write one: the name that is there at the end counts for both. What cannot be read or replaced is none.
std::uint64_t Store::own_id() {
  const auto known = [this]() -> std::optional<std::uint64_t> {
    try {
      const auto bytes = read_whole(files_, root_ + "/" + kId, kMostTextBytes);
      return bytes ? id_in(*bytes) : std::nullopt;
    } catch (const StoreError& error) {
      log().info("store: {}", error.what());
      return std::nullopt;
    }
  };
  if (const auto id = known()) return *id;
  const std::string text = new_id();
  const std::string temporary = kId + (".tmp." + text.substr(0, kIdBytes - 1));
  try {
    write_durably(files_, root_, kId, temporary, std::as_bytes(std::span(text)));
  } catch (const StoreError& error) {
    log().info("store: {}", error.what());
    remove_if_possible(temporary);
  }
  return known().value_or(0);
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
  DatasetLook found = look(name);
  return found.is_whole() ? std::move(found.plan) : std::nullopt;
}

// Jobs that only read come to their end without a commit: the dataset is not what they died of.
bool Store::is_worn(const DatasetLook& look) const {
  const auto has_failed = [this](std::uint32_t run) {
    try {
      return !has_finished(run);
    } catch (const StoreError&) {
      return true;
    }
  };
  return look.tried.size() >= kMostTries &&
         static_cast<std::size_t>(std::count_if(look.tried.begin(), look.tried.end(), has_failed)) >= kMostTries;
}

FoundDataset Store::find(std::int32_t group, const std::string& label, std::span<const DatasetName> passed_over) const {
  auto names = datasets(group);
  // Runs are counted from 1 on: there is no dataset with the empty name.
  const DatasetName chosen = label.empty() ? current().value_or(DatasetName{}) : DatasetName{};
  // A user may have given a dataset the name of another one.
  const DatasetName wanted = label.empty() ? chosen : DatasetName::parse(label).value_or(DatasetName{});
  const auto first = std::find(names.begin(), names.end(), wanted);
  if (first != names.end()) std::rotate(names.begin(), first, first + 1);
  FoundDataset found;
  // Datasets that were tried too often come last: to begin anew would be worse.
  std::optional<DatasetPlan> worn;
  for (const DatasetName& name : names) {
    if (std::find(passed_over.begin(), passed_over.end(), name) != passed_over.end()) continue;
    DatasetLook look = this->look(name);
    if (!look.is_whole()) {
      found.unusable.push_back({name, look.state, std::move(look.why)});
      continue;
    }
    if (!label.empty() && !look.is_called(label) && name.text() != label) continue;
    found.is_chosen = name == chosen;
    if (!found.is_chosen && is_worn(look)) {
      if (!worn) worn = std::move(look.plan);
      continue;
    }
    found.plan = std::move(look.plan);
    return found;
  }
  found.plan = std::move(worn);
  return found;
}

// Marks are empty files: whether one survives a crash makes little difference.
void Store::note_try(const DatasetName& name, std::uint32_t run) {
  try {
    (void)files_.create(root_ + "/" + name.text() + "/" + kTried + std::to_string(run), FileSystem::Use::small);
  } catch (const StoreError& error) {
    if (!takes_nothing(error)) throw;
    log().info("store: {}", error.what());
  }
}

void Store::forget_tries(const DatasetName& name) {
  const std::string folder = root_ + "/" + name.text();
  for (const std::string& file : files_.list(folder)) {
    if (file.starts_with(kTried)) files_.remove(folder + "/" + file);
  }
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

// A choice that cannot be read is none.
std::optional<DatasetName> Store::current() const {
  try {
    return choice();
  } catch (const StoreError& error) {
    log().warn("store: the choice of the user is unknown: {}", error.what());
    return std::nullopt;
  }
}

std::optional<DatasetName> Store::choice() const {
  try {
    const auto file = read_sealed(files_, root_ + "/" + kCurrent);
    const auto body = file ? unseal(SealedKind::current, "", *file) : std::nullopt;
    if (!body) return std::nullopt;
    return DatasetName::parse({reinterpret_cast<const char*>(body->data()), body->size()});
  } catch (const StoreError& error) {
    if (!is_of_others(error)) throw;
    return std::nullopt;
  }
}

void Store::remove(const DatasetName& name) {
  const auto names = files_.list(root_);
  const auto is_there = [&names](const std::string& each) {
    return std::find(names.begin(), names.end(), each) != names.end();
  };
  if (!is_there(name.text())) return;
  std::string removed = kRemoved + name.text();
  for (int i = 1; is_there(removed); ++i) removed = kRemoved + name.text() + "." + std::to_string(i);
  files_.rename(root_ + "/" + name.text(), root_ + "/" + removed);
  files_.sync_folder(root_);
  if (current() == name) set_current(std::nullopt);
  files_.remove_tree(root_ + "/" + removed);
}

void Store::sweep() {
  for (const std::string& name : files_.list(root_)) {
    if (!name.starts_with(kRemoved)) continue;
    try {
      files_.remove_tree(root_ + "/" + name);
    } catch (const StoreError& error) {
      log().info("store: {}", error.what());
    }
  }
}

}  // namespace fenix_impl
