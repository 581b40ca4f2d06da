// SPDX-License-Identifier: BSD-3-Clause
// The rules of docs/store.md: each state of a dataset, however it has come about, with each operation of the store (P10, P12).
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "base/simd/hash.hpp"
#include "store/pruning.hpp"
#include "store/sealed_file.hpp"
#include "store/store.hpp"
#include "support/failing_file_system.hpp"
#include "support/recorded_file_system.hpp"
#include "support/small_datasets.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

/// A store with an older dataset, which is whole, and a newer one in some state. A later run, and an even later one, use it.
struct Rig {
  RecordedFileSystem disk;
  FailingFileSystem files{disk};
  Store store{files, ""};
  DatasetName older{kSmallGroup, 1, 1, 1};
  DatasetName newer{kSmallGroup, 2, 2, 1};
  std::string folder = "/" + newer.text();

  Rig() {
    (void)store.begin_run();
    write_small(disk, small_plan(1, 1));
    (void)store.begin_run();
  }

  void write(const std::string& label = {}) { write_small(disk, small_plan(2, 2, label)); }
  void remove(const std::string& file) { disk.remove(folder + "/" + file); }
  void change(const std::string& file, std::size_t offset) { disk.damage(folder + "/" + file, offset); }
  void cut(const std::string& file) { replace(file, {}); }
  void replace(const std::string& file, const std::vector<std::byte>& bytes) {
    remove(file);
    disk.create(folder + "/" + file, FileSystem::Use::small)->write(0, bytes);
  }
  /// Has operations on a file, or on the folder itself, fail.
  void fail(FailingFileSystem::Act act, const std::string& path, int error) {
    files.fails = [=](FailingFileSystem::Act wanted, const std::string& at) {
      return wanted == act && at == path ? error : 0;
    };
  }
  void make_later(const std::string& file) {
    auto bytes = *read_whole(disk, folder + "/" + file);
    bytes[8] = std::byte{2};
    const std::uint64_t hash = hash_bytes(std::span(bytes).first(56));
    for (unsigned i = 0; i < 8; ++i) bytes[56 + i] = static_cast<std::byte>(hash >> (8U * i) & 0xFFU);
    replace(file, bytes);
  }
  [[nodiscard]] bool is_there(const DatasetName& name) {
    const auto all = store.datasets();
    return std::find(all.begin(), all.end(), name) != all.end();
  }
};

struct Row {
  const char* name;
  DatasetState state;
  std::function<void(Rig&)> make;
  bool has_label = false;
};

using Act = FailingFileSystem::Act;

std::vector<Row> rows() {
  const auto failing = [](Act act, const char* file, int error) {
    return [=](Rig& rig) {
      rig.write();
      rig.fail(act, *file == '\0' ? rig.folder : rig.folder + "/" + file, error);
    };
  };
  const auto without = [](std::vector<std::string> gone) {
    return [=](Rig& rig) {
      rig.write();
      for (const auto& file : gone) rig.remove(file);
    };
  };
  std::vector<Row> all = {
      {"whole", DatasetState::whole, [](Rig& rig) { rig.write(); }},
      {"no manifest", DatasetState::whole, without({"manifest"})},
      {"damaged manifest", DatasetState::whole, [](Rig& rig) { rig.write(), rig.change("manifest", 70); }},
      {"named", DatasetState::whole, [](Rig& rig) { rig.write("shock"); }, true},
      {"named later", DatasetState::whole, [](Rig& rig) { rig.write(), rig.write("shock"); }, true},
      {"named, and written again without", DatasetState::whole, [](Rig& rig) { rig.write("shock"), rig.write(); },
       true},
      {"unreadable name", DatasetState::whole,
       [](Rig& rig) { rig.write(), rig.write("shock"), rig.change(label_file("shock"), 64); }, true},
      {"empty folder", DatasetState::incomplete, [](Rig& rig) { rig.disk.make_folder(rig.folder); }},
      {"only a plan", DatasetState::incomplete, without({"manifest", "p.0", "p.1", "d.0.0", "d.1.0"})},
      {"no plan yet", DatasetState::incomplete, without({"manifest", "plan", "p.0"})},
      {"a part is missing", DatasetState::incomplete, without({"manifest", "p.1"})},
      {"data without its name", DatasetState::incomplete, without({"manifest", "d.1.0"})},
      {"changed plan", DatasetState::damaged, [](Rig& rig) { rig.write(), rig.change("plan", 70); }},
      {"changed version", DatasetState::damaged, [](Rig& rig) { rig.write(), rig.change("plan", 8); }},
      {"cut plan", DatasetState::damaged, [](Rig& rig) { rig.write(), rig.cut("plan"); }},
      {"lost plan", DatasetState::damaged, without({"plan"})},
      {"lost part", DatasetState::damaged, without({"p.1"})},
      {"lost data", DatasetState::damaged, without({"d.0.0"})},
      {"lost data, and an unfinished file", DatasetState::damaged,
       [](Rig& rig) {
         rig.write();
         rig.remove("d.1.0");
         (void)rig.disk.create(rig.folder + "/d.1.0.tmp", FileSystem::Use::small);
       }},
      {"changed part", DatasetState::damaged,
       [](Rig& rig) { rig.write(), rig.remove("manifest"), rig.change("p.0", 64); }},
      {"cut data", DatasetState::damaged, [](Rig& rig) { rig.write(), rig.remove("manifest"), rig.cut("d.1.0"); }},
      {"named, changed part", DatasetState::damaged,
       [](Rig& rig) { rig.write("shock"), rig.remove("manifest"), rig.change("p.0", 64); }, true},
      {"later plan", DatasetState::later, [](Rig& rig) { rig.write(), rig.make_later("plan"); }},
      {"later part", DatasetState::later, [](Rig& rig) { rig.write(), rig.remove("manifest"), rig.make_later("p.1"); }},
      {"a file of that name", DatasetState::unreadable,
       [](Rig& rig) { (void)rig.disk.create(rig.folder, FileSystem::Use::small); }},
      {"plan is a folder", DatasetState::unreadable, failing(Act::read, "plan", EISDIR)},
      {"plan is a loop of links", DatasetState::unreadable, failing(Act::open, "plan", ELOOP)},
  };
  static const int errors[] = {EIO, EACCES, ESTALE, ETIMEDOUT, EUCLEAN};
  for (const int error : errors) {
    all.push_back({"error of the folder", DatasetState::unreadable, failing(Act::list, "", error)});
    all.push_back({"error of the plan", DatasetState::unreadable, failing(Act::open, "plan", error)});
    all.push_back({"error of reading the plan", DatasetState::unreadable, failing(Act::read, "plan", error)});
    all.push_back({"error of a part", DatasetState::unreadable, [=](Rig& rig) {
                     rig.write();
                     rig.remove("manifest");
                     rig.fail(Act::read, rig.folder + "/p.1", error);
                   }});
  }
  return all;
}

class StoreRules : public testing::TestWithParam<std::size_t> {
 protected:
  StoreRules() : row(rows().at(GetParam())) { row.make(rig); }
  Row row;
  Rig rig;
};

TEST_P(StoreRules, TheStateIsSeen) {
  const DatasetLook look = rig.store.look(rig.newer);
  EXPECT_EQ(word_of(look.state), std::string(word_of(row.state))) << row.name << ": " << look.why;
  EXPECT_EQ(look.why.empty(), look.is_whole()) << row.name;
  EXPECT_TRUE(look.has_label || !row.has_label || !look.plan) << row.name;
}

// One thing that cannot be used blocks no start, and is told.
TEST_P(StoreRules, AStartFindsTheNewestWholeOne) {
  const FoundDataset found = rig.store.find(kSmallGroup, {}, {});
  ASSERT_TRUE(found.plan) << row.name;
  const bool is_whole = row.state == DatasetState::whole;
  EXPECT_EQ(found.plan->name, is_whole ? rig.newer : rig.older) << row.name;
  ASSERT_EQ(found.unusable.size(), is_whole ? 0U : 1U) << row.name;
  for (const auto& each : found.unusable) EXPECT_EQ(each.name, rig.newer) << row.name;
}

TEST_P(StoreRules, WithoutAWholeOneAStartIsTold) {
  rig.store.remove(rig.older);
  const FoundDataset found = rig.store.find(kSmallGroup, {}, {});
  EXPECT_EQ(found.plan.has_value(), row.state == DatasetState::whole) << row.name;
  EXPECT_EQ(found.unusable.size(), row.state == DatasetState::whole ? 0U : 1U) << row.name;
}

TEST_P(StoreRules, OnlyAWholeOneIsChosen) {
  rig.disk.sync_folder("");
  Store(rig.disk, "").set_current(rig.newer);
  const FoundDataset found = rig.store.find(kSmallGroup, {}, {});
  EXPECT_EQ(found.is_chosen, row.state == DatasetState::whole) << row.name;
  EXPECT_EQ(rig.store.complete(rig.newer).has_value(), row.state == DatasetState::whole) << row.name;
}

// Each can be deleted, and stays away.
TEST_P(StoreRules, EachCanBeDeleted) {
  rig.store.remove(rig.newer);
  EXPECT_FALSE(rig.is_there(rig.newer)) << row.name;
  EXPECT_TRUE(rig.is_there(rig.older)) << row.name;
  for (const std::string& name : rig.disk.list("")) EXPECT_FALSE(name.starts_with("removed.")) << row.name;
}

/// Makes the newest dataset of a run, whole, and has it make room.
void prune(Rig& rig, std::uint32_t run, std::uint32_t kept) {
  write_small(rig.disk, small_plan(run, 9));
  Pruning().run(rig.store, {kSmallGroup, run, kept, {}, false});
}

// Failed flushes are cleaned up, of this run and of earlier ones. All that may be of use to somebody stays.
TEST_P(StoreRules, ANewerWholeOneRemovesWhatHasFailed) {
  for (const std::uint32_t run : {2U, 3U}) {
    Rig again;
    row.make(again);
    prune(again, run, 0);
    EXPECT_EQ(again.is_there(again.newer), row.state != DatasetState::incomplete) << row.name << " in run " << run;
    EXPECT_TRUE(again.is_there(again.older)) << row.name;
  }
}

TEST_P(StoreRules, OnlyWholeOnesWithoutANameMakeRoom) {
  prune(rig, 3, 1);
  const bool goes = row.state == DatasetState::incomplete || (row.state == DatasetState::whole && !row.has_label);
  EXPECT_EQ(rig.is_there(rig.newer), !goes) << row.name;
  EXPECT_FALSE(rig.is_there(rig.older)) << row.name;
  EXPECT_TRUE(has_all_bytes(rig.disk, {kSmallGroup, 9, 3, 1})) << row.name;
}

// Without a whole one, a later run removes nothing that an earlier one has made; of its own failures the latest stay.
TEST_P(StoreRules, WithoutAWholeOneNothingOfAnEarlierRunGoes) {
  rig.store.remove(rig.older);
  Pruning().run(rig.store, {kSmallGroup, 3, 1, {}, false});
  EXPECT_TRUE(rig.is_there(rig.newer)) << row.name;
}

TEST_P(StoreRules, WhatIsUnderWayStays) {
  write_small(rig.disk, small_plan(3, 9));
  Pruning().run(rig.store, {kSmallGroup, 3, 1, {rig.newer}, false});
  EXPECT_TRUE(rig.is_there(rig.newer)) << row.name;
}

// A flush that is done again ends with a whole dataset, unless a later version has been there, or the file system does not let it.
TEST_P(StoreRules, AFlushThatIsDoneAgainMakesItWhole) {
  if (row.state == DatasetState::unreadable) return;
  DatasetWriter(rig.disk, "", small_plan(2, 2)).write_plan();
  write_small(rig.disk, small_plan(2, 2));
  EXPECT_TRUE(rig.store.complete(rig.newer)) << row.name << ": " << rig.store.look(rig.newer).why;
  EXPECT_TRUE(has_all_bytes(rig.disk, rig.newer)) << row.name;
  EXPECT_EQ(rig.store.look(rig.newer).has_label, row.has_label) << row.name;
}

INSTANTIATE_TEST_SUITE_P(States, StoreRules, testing::Range(std::size_t{0}, rows().size()));

// ------------------------------------------------------------------------------------------------------------------- names

TEST(StoreNames, ASnapshotMayHaveSeveral) {
  Rig rig;
  rig.write("one");
  rig.write("other");
  rig.write();
  for (const char* label : {"one", "other"}) {
    const auto found = rig.store.find(kSmallGroup, label, {});
    ASSERT_TRUE(found.plan) << label;
    EXPECT_EQ(found.plan->name, rig.newer);
  }
  EXPECT_FALSE(rig.store.find(kSmallGroup, "none", {}).plan);
  EXPECT_EQ(rig.store.look(rig.newer).labels, (std::vector<std::string>{"one", "other"}));
}

// Its own name counts for a dataset, also where a user has given it to another one.
TEST(StoreNames, ANameOfAnotherDatasetDoesNotHideIt) {
  Rig rig;
  rig.write(rig.older.text());
  EXPECT_EQ(rig.store.find(kSmallGroup, rig.older.text(), {}).plan->name, rig.older);
}

// The members of a group may be others by now.
TEST(StoreNames, ASnapshotGetsAnotherNameWhateverMembersThereAre) {
  for (const bool has_more : {false, true}) {
    Rig rig;
    rig.write("one");
    DatasetPlan plan = small_plan(rig.newer.run, rig.newer.time_stamp, "other");
    if (has_more) plan.members.push_back({4, 8, {}});
    if (!has_more) plan.members.clear();
    write_small(rig.disk, plan);
    EXPECT_EQ(rig.store.look(rig.newer).labels, (std::vector<std::string>{"one", "other"}));
    EXPECT_EQ(rig.store.look(rig.newer).plan->members.size(), 1U);
    EXPECT_TRUE(has_all_bytes(rig.disk, rig.newer));
  }
}

// -------------------------------------------------------------------------------------------------------------------- runs

TEST(StoreTries, JobsThatOnlyReadAreNoCrashes) {
  Rig rig;
  rig.write();
  std::vector<std::uint32_t> runs;
  for (int i = 0; i < 4; ++i) {
    runs.push_back(rig.store.begin_run().number);
    rig.store.note_try(rig.newer, runs.back());
  }
  EXPECT_EQ(rig.store.find(kSmallGroup, {}, {}).plan->name, rig.older);
  rig.store.finish_run(runs[0]);
  rig.store.finish_run(runs[1]);
  EXPECT_EQ(rig.store.find(kSmallGroup, {}, {}).plan->name, rig.newer);
}

TEST(StoreBeginning, AStoreThatTakesNothingCanBeRead) {
  for (const int error : {EROFS, EACCES, ENOSPC, EDQUOT}) {
    Rig rig;
    rig.write();
    rig.files.fails = [=](Act act, const std::string&) {
      return act == Act::open || act == Act::read || act == Act::list ? 0 : error;
    };
    const StoreRun run = rig.store.begin_run();
    EXPECT_TRUE(run.only_reads);
    EXPECT_EQ(run.number, 3U);
    EXPECT_NE(run.store, 0U);
    const auto found = rig.store.find(kSmallGroup, {}, {});
    ASSERT_TRUE(found.plan);
    EXPECT_EQ(found.plan->name, rig.newer);
    rig.store.note_try(rig.newer, run.number);
  }
}

TEST(StoreBeginning, AFullDiskIsLeftAsItIs) {
  Rig rig;
  rig.files.fails = [](Act act, const std::string& path) {
    return act == Act::write && path.starts_with("/id.") ? ENOSPC : 0;
  };
  rig.disk.remove("/id");
  EXPECT_EQ(rig.store.begin_run().store, 0U);
  for (const std::string& name : rig.disk.list("")) EXPECT_FALSE(name.starts_with("id"));
}

TEST(StoreBeginning, AStoreThatDoesNotAnswerIsAnError) {
  Rig rig;
  rig.files.fails = [](Act, const std::string&) { return EIO; };
  EXPECT_THROW((void)rig.store.begin_run(), StoreError);
  EXPECT_THROW((void)rig.store.find(kSmallGroup, {}, {}), StoreError);
}

TEST(StoreBeginning, AnEmptiedStoreIsAnotherOne) {
  RecordedFileSystem one;
  RecordedFileSystem other;
  const StoreRun first = Store(one, "").begin_run();
  EXPECT_EQ(Store(one, "").begin_run().store, first.store);
  EXPECT_NE(Store(other, "").begin_run().store, first.store);
  EXPECT_TRUE(Store(one, "").has_successor(1));
  EXPECT_FALSE(Store(one, "").has_successor(2));
}

// ----------------------------------------------------------------------------------------------------------------- failures

// Whatever fails: a part that could not be written leaves nothing but the plan, and only the latest attempts of a run stay.
TEST(StoreFailures, DoNotFillTheStore) {
  for (const char* failing : {"/d.1.0", "/d.1.0.tmp", "/p.1"}) {
    Rig rig;
    for (int time_stamp = 10; time_stamp < 20; ++time_stamp) {
      const DatasetPlan plan = small_plan(2, time_stamp);
      const std::string folder = "/" + plan.name.text();
      rig.files.fails = [&](Act act, const std::string& path) {
        const bool changes = act == Act::write || act == Act::rename || act == Act::sync;
        return changes && path == folder + failing ? EDQUOT : 0;
      };
      DatasetWriter writer(rig.files, "", plan);
      writer.write_plan();
      EXPECT_TRUE(writer.write_part(0, small_source(plan, 0)));
      EXPECT_THROW((void)writer.write_part(1, small_source(plan, 1)), StoreError) << failing;
      for (const std::string& file : rig.disk.list(folder)) {
        EXPECT_TRUE(file == "plan" || file == "p.0" || file == "d.0.0") << failing << " leaves " << file;
      }
      Pruning().run(rig.store, {kSmallGroup, 2, 2, {}, false});
      EXPECT_LE(rig.store.datasets(kSmallGroup).size(), 1 + Pruning::kMostAttempts);
    }
    EXPECT_TRUE(has_all_bytes(rig.disk, rig.older));
  }
}

// One dataset that cannot be removed keeps no other one.
TEST(StoreFailures, WhatCannotBeRemovedBlocksNothing) {
  Rig rig;
  rig.write();
  write_small(rig.disk, small_plan(2, 3));
  write_small(rig.disk, small_plan(2, 4));
  rig.fail(Act::rename, rig.folder, EACCES);
  Pruning().run(rig.store, {kSmallGroup, 2, 1, {}, false});
  EXPECT_TRUE(rig.is_there(rig.newer));
  EXPECT_FALSE(rig.is_there(rig.older));
  EXPECT_FALSE(rig.is_there({kSmallGroup, 3, 2, 1}));
  EXPECT_TRUE(rig.is_there({kSmallGroup, 4, 2, 1}));
}

// P10: a choice that cannot be read for now may be any dataset. What others have put in its place is none.
TEST(StoreFailures, AChoiceThatCannotBeReadKeepsAll) {
  for (const int error : {EIO, ESTALE, ELOOP}) {
    Rig rig;
    rig.write();
    write_small(rig.disk, small_plan(2, 3));
    rig.store.set_current(rig.older);
    rig.fail(Act::open, "/current", error);
    Pruning().run(rig.store, {kSmallGroup, 2, 1, {}, false});
    EXPECT_EQ(rig.is_there(rig.older), error != ELOOP) << error;
    rig.files.fails = {};
    Pruning().run(rig.store, {kSmallGroup, 2, 1, {}, false});
    EXPECT_FALSE(rig.is_there(rig.newer)) << error;
    EXPECT_EQ(rig.is_there(rig.older), error != ELOOP) << error;
  }
}

// A removal that is cut off leaves files that are no dataset, and go with the next one.
TEST(StoreFailures, ARemovalThatWasCutOffIsFinished) {
  Rig rig;
  rig.write();
  rig.fail(Act::remove, "/removed." + rig.newer.text(), EIO);
  EXPECT_THROW(rig.store.remove(rig.newer), StoreError);
  EXPECT_FALSE(rig.is_there(rig.newer));
  rig.files.fails = {};
  rig.store.sweep();
  for (const std::string& name : rig.disk.list("")) EXPECT_FALSE(name.starts_with("removed."));
}

// A start opens no more than it takes, whatever else is there (P11).
TEST(StoreSize, AStartLooksAtTheNewestOnly) {
  Rig rig;
  for (int time_stamp = 10; time_stamp < 300; ++time_stamp) write_small(rig.disk, small_plan(2, time_stamp));
  int operations = 0;
  rig.files.fails = [&](Act, const std::string&) { return ++operations, 0; };
  EXPECT_EQ(rig.store.find(kSmallGroup, {}, {}).plan->name.time_stamp, 299);
  EXPECT_LT(operations, 20);
  Pruning pruning;
  pruning.run(rig.store, {kSmallGroup, 2, 0, {}, false});
  operations = 0;
  write_small(rig.disk, small_plan(2, 300));
  pruning.run(rig.store, {kSmallGroup, 2, 0, {}, false});
  EXPECT_LT(operations, 20);
}

}  // namespace
}  // namespace fenix_test
