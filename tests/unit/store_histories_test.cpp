// SPDX-License-Identifier: BSD-3-Clause
// Random histories of a store: flushes that succeed or are cut off, damage, deletions, choices, crashes between operations and in them. After
// each step the store must be what the model says: which dataset a start finds above all (P10, P12).
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "store/manifest.hpp"
#include "store/pruning.hpp"
#include "store/sealed_file.hpp"
#include "store/store.hpp"
#include "support/failing_file_system.hpp"
#include "support/random_seed.hpp"
#include "support/recorded_file_system.hpp"
#include "support/store_model.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

/// The system ends in an operation.
struct SystemCrash {};

class StoreHistory {
 public:
  explicit StoreHistory(std::uint64_t seed) : random_(seed) { begin_run(); }

  void step() {
    const std::size_t kind = random_() % 16;
    if (kind < 5) return cut(&StoreHistory::flush);
    if (kind < 8) return damage();
    if (kind < 10) return cut(&StoreHistory::prune);
    if (kind == 10) return cut(&StoreHistory::remove);
    if (kind == 11) return cut(&StoreHistory::choose);
    if (kind == 12) return try_newest();
    if (kind == 13) return finish();
    if (kind == 14) return begin_run();
    crash();
  }

  /// Compares the store with the model. Returns what differs.
  [[nodiscard]] std::string difference() {
    Store store(*disk_, "");
    if (store.datasets(kSmallGroup) != model_.newest_first()) return "other datasets";
    for (const auto& [name, truth] : model_.datasets) {
      const DatasetLook look = store.look(name);
      if (look.state != truth.state())
        return name.text() + " is " + word_of(look.state) + ", not " + word_of(truth.state());
      if (std::set<std::string>(look.labels.begin(), look.labels.end()) != truth.all_labels())
        return name.text() + ": labels";
    }
    const FoundDataset found = store.find(kSmallGroup, {}, {});
    if (name_of(found) != model_.expected()) return "a start finds another one";
    const bool has_found = found.plan.has_value();
    if (!has_found && found.unusable.size() != model_.datasets.size()) return "not all that is there is told";
    if (has_found && is_sound(found.plan->name) && !has_all_bytes(*disk_, found.plan->name)) return "wrong bytes";
    for (const char* label : kLabels) {
      if (*label != '\0' && name_of(store.find(kSmallGroup, label, {})) != model_.expected(label)) return label;
    }
    return {};
  }

  [[nodiscard]] const std::string& steps() const { return steps_; }

 private:
  static constexpr const char* kLabels[] = {"", "", "shock", "end"};

  static std::optional<DatasetName> name_of(const FoundDataset& found) {
    return found.plan ? std::optional(found.plan->name) : std::nullopt;
  }
  /// Damage of data is found when it is read.
  [[nodiscard]] bool is_sound(const DatasetName& name) const { return damaged_.count(name) == 0; }
  [[nodiscard]] std::optional<DatasetName> any() {
    const auto names = model_.newest_first();
    return names.empty() ? std::nullopt : std::optional(names[random_() % names.size()]);
  }

  // ----------------------------------------------------------------------------------------------------------- operations

  /// Does an operation, or a part of it: then the system has ended.
  void cut(void (StoreHistory::*operation)(FileSystem&)) {
    FailingFileSystem files(*disk_);
    int left = random_() % 4 == 0 ? static_cast<int>(random_() % 30) : -1;
    files.fails = [&left](FailingFileSystem::Act, const std::string&) -> int {
      if (left-- == 0) throw SystemCrash{};
      return 0;
    };
    try {
      (this->*operation)(files);
    } catch (const SystemCrash&) {
      steps_ += "(cut off) ";
      touched_ = true;
      crash();
    }
  }

  void flush(FileSystem& files) {
    const bool is_again = random_() % 4 == 0 && time_stamp_ > 0;
    const int time_stamp = is_again ? time_stamp_ : ++time_stamp_;
    const DatasetPlan plan = small_plan(run_, time_stamp, kLabels[random_() % std::size(kLabels)]);
    const unsigned writers = random_() % 3 == 0 ? static_cast<unsigned>(random_() % 4) : 3U;
    steps_ += "flush " + plan.name.text() + "'" + plan.label + "' by " + std::to_string(writers) + ", ";
    const auto known = model_.datasets.find(plan.name);
    if (known != model_.datasets.end() && known->second.is_whole() && known->second.plan != FileTruth::good) return;
    in_work_ = plan.name;
    DatasetWriter writer(files, "", plan);
    writer.write_plan();
    for (std::uint32_t i = 0; i < kSmallRanks; ++i) {
      if ((writers >> i & 1U) != 0) (void)writer.write_part(i, small_source(plan, static_cast<int>(i)));
    }
    (void)writer.write_manifest();
    model_.flush(plan, writers);
  }

  void prune(FileSystem& files) {
    const auto kept = static_cast<std::uint32_t>(random_() % 4);
    steps_ += "prune " + std::to_string(kept) + " in " + std::to_string(run_) + ", ";
    Store store(files, "");
    Pruning().run(store, {kSmallGroup, run_, kept, {}, false});
    model_.prune(run_, kept);
  }

  void remove(FileSystem& files) {
    const auto name = any();
    if (!name) return;
    steps_ += "delete " + name->text() + ", ";
    Store(files, "").remove(*name);
    model_.remove(*name);
  }

  void choose(FileSystem& files) {
    const auto name = random_() % 3 == 0 ? std::nullopt : any();
    steps_ += "choose " + (name ? name->text() : "none") + ", ";
    Store(files, "").set_current(name);
    model_.current = name;
  }

  void try_newest() {
    const auto name = model_.expected();
    if (!name) return;
    steps_ += "try " + name->text() + ", ";
    Store(*disk_, "").note_try(*name, run_);
    model_.datasets[*name].tried.insert(run_);
  }

  void finish() {
    steps_ += "finish, ";
    Store(*disk_, "").finish_run(run_);
    model_.finished.insert(run_);
  }

  void begin_run() {
    run_ = Store(*disk_, "").begin_run().number;
    steps_ += "run " + std::to_string(run_) + ", ";
    time_stamp_ = 0;
  }

  /// Changes, cuts or removes a file, for good.
  void damage() {
    const auto name = any();
    if (!name) return;
    const std::size_t writer = random_() % kSmallRanks;
    const std::string files[] = {"plan", "manifest", part_file(static_cast<std::uint32_t>(writer)), "data"};
    const std::string file = files[random_() % 4];
    DatasetTruth& truth = model_.datasets.at(*name);
    damaged_.insert(*name);
    steps_ += "damage " + name->text() + " " + file + ", ";
    if (file == "data") {
      remove_data(*name, writer);
      truth.has_data[writer] = truth.has_own_data[writer] = false;
      return;
    }
    FileTruth& changed = file == "plan" ? truth.plan : file == "manifest" ? truth.manifest : truth.parts[writer];
    // A second change may undo the first one.
    changed = change(*name, file, /*goes=*/changed == FileTruth::bad || random_() % 2 == 0);
    if (file == "plan") truth.label_of_plan.clear();
    if (truth.parts[writer] != FileTruth::good) truth.has_own_data[writer] = false;
  }

  FileTruth change(const DatasetName& name, const std::string& file, bool goes) {
    const std::string folder = "/" + name.text();
    auto bytes = read_whole(*disk_, folder + "/" + file);
    if (!bytes) return FileTruth::none;
    disk_->remove(folder + "/" + file);
    if (!goes && !bytes->empty()) (*bytes)[random_() % bytes->size()] ^= std::byte{0x20};
    if (!goes) {
      const auto changed = disk_->create(folder + "/" + file, FileSystem::Use::small);
      changed->write(0, *bytes);
      changed->sync();
    }
    disk_->sync_folder(folder);
    return goes ? FileTruth::none : FileTruth::bad;
  }

  void remove_data(const DatasetName& name, std::size_t writer) {
    const std::string folder = "/" + name.text();
    const std::string data = "d." + std::to_string(writer) + ".";
    for (const std::string& each : disk_->list(folder)) {
      if (each.starts_with(data)) disk_->remove(folder + "/" + each);
    }
    disk_->sync_folder(folder);
  }

  /// Ends the system. An operation that was cut off may have been done, or not; all else must be as before.
  void crash() {
    steps_ += "crash, ";
    disk_ = disk_->after_crash(disk_->operations(), static_cast<unsigned>(random_() % 9), random_);
    StoreModel after;
    after.finished = model_.finished;
    after.current = touched_ ? Store(*disk_, "").current() : model_.current;
    for (const DatasetName& name : Store(*disk_, "").datasets(kSmallGroup)) after.datasets[name] = probe(name);
    if (!touched_) {
      for (auto& [name, truth] : model_.datasets) {
        // Marks of tries are not synced.
        if (after.datasets.count(name) > 0) truth.tried = after.datasets[name].tried;
      }
    } else {
      // A prune or a deletion removes some; a flush changes one.
      for (auto& [name, truth] : after.datasets) {
        const auto before = model_.datasets.find(name);
        if (before == model_.datasets.end() || name == in_work_) continue;
        before->second.tried = truth.tried;
        EXPECT_EQ(before->second, truth) << name.text() << " has changed: " << steps_;
      }
      // A dataset that was told complete stays complete.
      const auto whole = in_work_ ? model_.datasets.find(*in_work_) : model_.datasets.end();
      if (whole != model_.datasets.end() && whole->second.is_whole() && after.datasets.count(*in_work_) > 0) {
        EXPECT_TRUE(after.datasets[*in_work_].is_whole()) << steps_;
      }
      model_ = after;
    }
    touched_ = false;
    in_work_.reset();
    begin_run();
  }

  /// Looks at the files of a dataset, each by itself.
  DatasetTruth probe(const DatasetName& name) {
    DatasetTruth truth;
    const std::string folder = "/" + name.text();
    const auto names = disk_->list(folder);
    if (const auto bytes = read_whole(*disk_, folder + "/plan")) {
      const auto plan = decode_plan(name, *bytes);
      truth.plan = plan ? FileTruth::good : FileTruth::bad;
      if (plan) truth.label_of_plan = plan->label;
    }
    if (const auto bytes = read_whole(*disk_, folder + "/manifest")) {
      truth.manifest = decode_manifest(name, *bytes) ? FileTruth::good : FileTruth::bad;
    }
    for (std::uint32_t i = 0; i < kSmallRanks; ++i) {
      const std::string data = "d." + std::to_string(i) + ".";
      truth.has_data[i] = std::any_of(names.begin(), names.end(), [&](const auto& each) {
        return each.starts_with(data) && !each.ends_with(".tmp");
      });
      if (const auto bytes = read_whole(*disk_, folder + "/" + part_file(i))) {
        const auto part = decode_part(name, i, *bytes);
        truth.parts[i] = part ? FileTruth::good : FileTruth::bad;
        if (part) {
          truth.has_own_data[i] = std::find(names.begin(), names.end(), data_file(i, part->attempt)) != names.end();
        }
      }
    }
    for (const std::string& each : names) {
      if (each.starts_with("tried.")) truth.tried.insert(static_cast<std::uint32_t>(std::stoul(each.substr(6))));
      if (!each.starts_with("name.") || each.ends_with(".tmp")) continue;
      const auto bytes = *read_whole(*disk_, folder + "/" + each);
      const auto body = unseal(SealedKind::label, name.text(), bytes);
      if (body) truth.labels.emplace(reinterpret_cast<const char*>(body->data()), body->size());
    }
    return truth;
  }

  std::mt19937 random_;
  std::unique_ptr<RecordedFileSystem> disk_ = std::make_unique<RecordedFileSystem>();
  StoreModel model_;
  std::uint32_t run_ = 0;
  int time_stamp_ = 0;
  bool touched_ = false;  // an operation has been cut off
  std::optional<DatasetName> in_work_;
  std::set<DatasetName> damaged_;
  std::string steps_;
};

// FENIX_TEST_HISTORIES=100000 for more of them.
TEST(StoreHistories, AreAsTheModelSays) {
  constexpr int kSteps = 24;
  const char* const wanted = std::getenv("FENIX_TEST_HISTORIES");
  const int histories = wanted != nullptr ? std::atoi(wanted) : 1500;
  const std::uint64_t first = random_seed();
  for (int i = 0; i < histories; ++i) {
    StoreHistory history(first + static_cast<std::uint64_t>(i));
    for (int step = 0; step < kSteps; ++step) {
      history.step();
      const std::string difference = history.difference();
      ASSERT_EQ(difference, "") << "history " << i << ": " << history.steps();
      ASSERT_FALSE(HasFailure()) << "history " << i;
    }
  }
}

}  // namespace
}  // namespace fenix_test
