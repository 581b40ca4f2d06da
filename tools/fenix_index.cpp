// SPDX-License-Identifier: BSD-3-Clause
// Lists the datasets of a store, and looks after them. Needs no MPI, and no job that runs.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "base/scratch.hpp"
#include "run_tool.hpp"
#include "store/dataset.hpp"
#include "store/dataset_writer.hpp"
#include "store/posix_file_system.hpp"
#include "store/pruning.hpp"
#include "store/run_log.hpp"
#include "store/store.hpp"

using namespace fenix_impl;

namespace {

constexpr int kNotWhole = 1;
constexpr int kNone = 2;

/// A dataset as this tool shows it.
struct Entry {
  DatasetName name;
  DatasetLook look;
  std::uint64_t bytes = 0;  // of its files

  [[nodiscard]] std::string labels() const {
    std::string all;
    for (const std::string& each : look.labels) all += (all.empty() ? "" : ", ") + each;
    return all;
  }
  [[nodiscard]] std::size_t ranks() const { return look.plan ? look.plan->writers.size() : 0; }
  [[nodiscard]] std::uint32_t writers() const { return look.plan ? look.plan->number_of_writers() : 0; }
};

class Index {
 public:
  explicit Index(std::string root) : root_(std::move(root)), store_(files_, root_) {}

  [[nodiscard]] Store& store() { return store_; }

  [[nodiscard]] std::vector<Entry> entries() {
    std::vector<Entry> found;
    for (const DatasetName& name : store_.datasets()) found.push_back(entry(name));
    return found;
  }

  /// Whether there is such a dataset, whatever its state.
  [[nodiscard]] bool has(const DatasetName& name) const {
    const auto all = store_.datasets();
    return std::find(all.begin(), all.end(), name) != all.end();
  }

  [[nodiscard]] Entry entry(const DatasetName& name) { return {name, store_.look(name), bytes_of(name)}; }

  /// Reads all data of datasets, and prints what each one is. Returns whether all are whole. passes_over: incomplete ones.
  [[nodiscard]] bool verify(const std::vector<DatasetName>& names, bool passes_over) {
    bool are_whole = true;
    for (const DatasetName& name : names) {
      const Verified found = verify(name);
      const bool is_whole = found.state == DatasetState::whole;
      // A job may have removed it meanwhile.
      if (passes_over && (found.state == DatasetState::incomplete || (!is_whole && !has(name)))) continue;
      std::printf("%s is %s%s%s\n", name.text().c_str(), is_whole ? "whole" : word_of(found.state),
                  found.why.empty() ? "" : ": ", found.why.c_str());
      are_whole = are_whole && is_whole;
    }
    return are_whole;
  }

  /// Writes the manifests that are missing. Returns how many.
  [[nodiscard]] int build() {
    int written = 0;
    for (const DatasetName& name : store_.datasets()) {
      const auto plan = store_.complete(name);
      if (plan) written += DatasetWriter(files_, root_, *plan).write_manifest() ? 1 : 0;
    }
    return written;
  }

  void dump(const DatasetName& name) {
    const auto dataset = Dataset::open(files_, root_, name);
    if (!dataset) throw std::runtime_error(name.text() + " is no dataset, or its plan is damaged");
    const DatasetPlan& plan = dataset->plan();
    std::printf("dataset %s\nlabel %s\nepoch %llu\nranks %zu\nwriters %u\n", name.text().c_str(), plan.label.c_str(),
                static_cast<unsigned long long>(plan.epoch), plan.writers.size(), plan.number_of_writers());
    for (const StoredMember& member : plan.members)
      std::printf("member %d: elements of %u bytes\n", member.id, member.element_bytes);
    for (std::size_t rank = 0; rank < plan.writers.size(); ++rank) {
      const auto data = dataset->rank(static_cast<std::int32_t>(rank));
      std::printf("rank %zu: writer %u%s\n", rank, plan.writers[rank], data ? "" : ", missing");
      if (!data) continue;
      for (const Extent& extent : data->stored.extents) {
        std::printf("  member %d: %llu bytes at %llu of %s\n", extent.member,
                    static_cast<unsigned long long>(extent.bytes), static_cast<unsigned long long>(extent.offset),
                    data->data_file.c_str());
      }
    }
  }

  /// run: 0 for the latest one. Returns false if there is no log.
  [[nodiscard]] bool print_log(std::uint32_t run) {
    const auto lines = read_log(files_, root_, run != 0 ? run : store_.latest_run());
    if (lines) std::fwrite(lines->data(), 1, lines->size(), stdout);
    return lines.has_value();
  }

 private:
  struct Verified {
    DatasetState state = DatasetState::whole;
    std::string why;
  };

  /// One that cannot be read keeps no other one from being looked at.
  [[nodiscard]] Verified verify(const DatasetName& name) {
    const DatasetLook look = store_.look(name);
    if (!look.is_whole()) return {look.state, look.why};
    try {
      if (has_all_bytes(name)) return {};
      return {DatasetState::damaged, "its data has other bytes than were written"};
    } catch (const StoreError& error) {
      return {DatasetState::unreadable, error.what()};
    }
  }

  [[nodiscard]] bool has_all_bytes(const DatasetName& name) {
    const auto dataset = Dataset::open(files_, root_, name);
    if (!dataset) return false;
    const Scratch buffer(std::size_t{64} << 20U);
    for (std::size_t rank = 0; rank < dataset->plan().writers.size(); ++rank) {
      const auto data = dataset->rank(static_cast<std::int32_t>(rank));
      if (!data) return false;
      for (const Extent& extent : data->stored.extents) {
        for (std::uint64_t at = 0; at < extent.bytes; at += buffer.bytes().size()) {
          const auto piece = buffer.bytes().first(std::min<std::uint64_t>(buffer.bytes().size(), extent.bytes - at));
          if (!dataset->read_part_of(*data, extent.member, at, piece)) return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] std::uint64_t bytes_of(const DatasetName& name) {
    std::uint64_t bytes = 0;
    const std::string folder = root_ + "/" + name.text();
    try {
      for (const std::string& file : files_.list(folder)) {
        struct stat status {};
        if (::lstat((folder + "/" + file).c_str(), &status) == 0) bytes += static_cast<std::uint64_t>(status.st_size);
      }
    } catch (const StoreError&) {
      // Its state says that it cannot be read.
    }
    return bytes;
  }

  PosixFileSystem files_;
  std::string root_;
  Store store_;
};

/// Says that a store has no such dataset, for the status of the program.
int none_of(const DatasetName& name) {
  std::fprintf(stderr, "fenix-index: there is no dataset %s\n", name.text().c_str());
  return kNone;
}

DatasetName parsed(const std::string& text) {
  if (const auto name = DatasetName::parse(text)) return *name;
  throw CLI::ValidationError(text, "is not the name of a dataset: group.time_stamp.run.generation");
}

void print(Index& index, bool as_json) {
  const auto current = index.store().current();
  nlohmann::json list = nlohmann::json::array();
  if (!as_json) std::printf("%-20s %-20s %6s %8s %14s  %s\n", "dataset", "name", "ranks", "writers", "bytes", "state");
  for (const Entry& each : index.entries()) {
    const bool is_current = current && *current == each.name;
    if (as_json) {
      list.push_back({{"dataset", each.name.text()},
                      {"group", each.name.group},
                      {"time_stamp", each.name.time_stamp},
                      {"run", each.name.run},
                      {"generation", each.name.generation},
                      {"name", each.look.labels.empty() ? "" : each.look.labels.front()},
                      {"names", each.look.labels},
                      {"ranks", each.ranks()},
                      {"writers", each.writers()},
                      {"missing", each.look.missing},
                      {"bytes", each.bytes},
                      {"state", word_of(each.look.state)},
                      {"why", each.look.why},
                      {"current", is_current}});
      continue;
    }
    std::printf("%-20s %-20s %6zu %8u %14llu  %s%s\n", each.name.text().c_str(),
                each.look.labels.empty() ? "-" : each.labels().c_str(), each.ranks(), each.writers(),
                static_cast<unsigned long long>(each.bytes), word_of(each.look.state), is_current ? ", current" : "");
    if (!each.look.why.empty()) std::printf("    %s\n", each.look.why.c_str());
    for (const std::uint32_t writer : each.look.missing)
      std::printf("    the part of writer %u is missing or damaged\n", writer);
  }
  // Paths may have any bytes.
  if (as_json) std::printf("%s\n", list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

[[noreturn]] void watch(Index& index) {
  constexpr std::chrono::seconds kBetweenLooks{1};
  while (true) {
    print(index, false);
    std::printf("\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

int run(int argc, char** argv) {
  CLI::App app{
      "Lists the datasets of a store of Fenix, newest first, and looks after them. Status: 0; 1 if --verify finds "
      "one that is not whole; 2 if there is no such dataset, or no such store."};
  std::string root = environment::text("FENIX_STORE");
  std::string verify;
  std::string remove;
  std::string current;
  std::string dumped;
  int latest = 0;
  bool has_latest = false;
  std::uint32_t logged = 0;
  bool has_logged = false;
  bool as_json = false;
  bool builds = false;
  bool watches = false;
  std::vector<int> keep;
  app.add_option("store", root, "folder of the store (FENIX_STORE)");
  app.add_flag("--json", as_json, "the list as JSON");
  app.add_flag("--watch", watches, "the list each second, until this program is ended");
  app.add_option("--latest", latest, "prints the newest complete dataset of this group")->each([&](const std::string&) {
    has_latest = true;
  });
  app.add_option("--log", logged, "prints what happened in this run; 0: in the latest one")
      ->each([&](const std::string&) { has_logged = true; });
  app.add_option("--verify", verify, "reads a dataset, or \"all\" but incomplete ones, and compares all hashes");
  app.add_option("--dump", dumped, "prints the contents of a dataset");
  app.add_flag("--build", builds, "writes the manifests that are missing");
  app.add_option("--delete", remove, "removes a dataset");
  app.add_option("--keep", keep,
                 "GROUP N: of this group, removes complete datasets without a name beyond the newest N, and older "
                 "incomplete ones")
      ->expected(2);
  app.add_option("--current", current,
                 "the dataset from which its group goes on in the next job; \"newest\": the newest one again");
  CLI11_PARSE(app, argc, argv);
  if (root.empty()) throw CLI::RequiredError("store");
  struct stat folder {};
  if (::stat(root.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode)) {
    std::fprintf(stderr, "fenix-index: there is no folder %s\n", root.c_str());
    return kNone;
  }
  Index index(root);
  if (watches) watch(index);
  if (has_latest) {
    const FoundDataset found = index.store().find(latest, {}, {});
    for (const auto& each : found.unusable) {
      std::fprintf(stderr, "fenix-index: %s is %s: %s\n", each.name.text().c_str(), word_of(each.state),
                   each.why.c_str());
    }
    if (!found.plan) return kNone;
    std::printf("%s\n", found.plan->name.text().c_str());
    return EXIT_SUCCESS;
  }
  if (has_logged) return index.print_log(logged) ? EXIT_SUCCESS : kNone;
  if (!dumped.empty()) {
    const DatasetName name = parsed(dumped);
    if (!index.has(name)) return none_of(name);
    index.dump(name);
    return EXIT_SUCCESS;
  }
  if (builds) {
    std::printf("%d manifests\n", index.build());
    return EXIT_SUCCESS;
  }
  if (!remove.empty()) {
    const DatasetName name = parsed(remove);
    if (!index.has(name)) return none_of(name);
    index.store().remove(name);
    return EXIT_SUCCESS;
  }
  if (!keep.empty()) {
    if (keep[1] < 1) throw CLI::ValidationError("--keep", "at least one dataset stays: N is 1 or more");
    const Pruning::Rule rule{keep[0], 0, static_cast<std::uint32_t>(keep[1]), {}, /*is_of_user=*/true};
    Pruning().run(index.store(), rule);
    return EXIT_SUCCESS;
  }
  if (!current.empty()) {
    if (current == "newest") {
      index.store().set_current(std::nullopt);
      return EXIT_SUCCESS;
    }
    const DatasetName name = parsed(current);
    if (!index.store().complete(name)) return kNone;
    index.store().set_current(name);
    return EXIT_SUCCESS;
  }
  if (!verify.empty()) {
    if (verify == "all") return index.verify(index.store().datasets(), true) ? EXIT_SUCCESS : kNotWhole;
    const DatasetName name = parsed(verify);
    if (!index.has(name)) return none_of(name);
    return index.verify({name}, false) ? EXIT_SUCCESS : kNotWhole;
  }
  print(index, as_json);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) { return run_tool("fenix-index", run, argc, argv); }
