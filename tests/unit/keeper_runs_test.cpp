// SPDX-License-Identifier: BSD-3-Clause
// The keeper where runs meet: two jobs at once, data that was deleted, a store that was made anew, damage (P10, P11, P12).
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "keeper/requests.hpp"
#include "store/halt.hpp"
#include "store/posix_file_system.hpp"
#include "store/pruning.hpp"
#include "store/store.hpp"
#include "support/keeper_of_node.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

class KeeperBetweenRuns : public KeeperOfNode {
 protected:
  /// Begins a run, as a rank does that knows it from then on.
  std::uint32_t joined(KeeperClient& rank) {
    const StoreRun run = rank.runs().begin(nothing_).run;
    rank.connection().join(run);
    // It is heard before the answer to a later request.
    (void)rank.memory().kept_groups(nothing_);
    return run.number;
  }
  PosixFileSystem files_;
};

TEST_F(KeeperBetweenRuns, ASecondJobIsRefusedWhileTheFirstOneLives) {
  EXPECT_EQ(joined(client()), 1U);
  KeeperClient& second = client();
  try {
    (void)second.runs().begin(nothing_);
    FAIL() << "a second run has begun";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_STORE);
    EXPECT_NE(std::string(error.what()).find("another job uses it"), std::string::npos) << error.what();
  }
  EXPECT_EQ(Store(files_, root_).latest_run(), 1U);
  clients_.erase(clients_.begin());
  EXPECT_EQ(second.runs().begin(nothing_).run.number, 2U);
}

// On another node, which has another keeper, it begins all the same.
TEST_F(KeeperBetweenRuns, AJobWithASuccessorWritesNothingMore) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  EXPECT_EQ(rank.flush(plan_for(run, 0, {0})).code, KeeperCode::done);
  EXPECT_EQ(Store(files_, root_).begin_run().number, run + 1);
  const auto outcome = rank.flush(plan_for(run, 1, {0}));
  EXPECT_EQ(outcome.code, KeeperCode::failed);
  EXPECT_EQ(outcome.text, "another job uses the store now");
  EXPECT_EQ(Store(files_, root_).datasets(7), (std::vector<DatasetName>{{7, 0, run, 1}}));
}

// The last commits of a job that has died are written whatever comes after it.
TEST_F(KeeperBetweenRuns, WhatAJobHasLeftIsWrittenBesideItsSuccessor) {
  hello_.lease = 1;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  rank.keep(plan_for(run, 5, {0}));
  (void)only.memory().kept_groups(nothing_);
  (void)Store(files_, root_).begin_run();
  clients_.clear();
  thread_.join();
  EXPECT_TRUE(Store(files_, root_).complete({7, 5, run, 1}));
}

TEST_F(KeeperBetweenRuns, DeletedSnapshotsAreNotWritten) {
  hello_.lease = 1;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  for (const int stamp : {4, 5, 6}) rank.keep(plan_for(run, stamp, {0}));
  only.memory().drop_snapshots({7, run, 1, 5});
  only.memory().drop_snapshots({8, run, 1, -1});
  (void)only.datasets().remove(DatasetName{7, 6, run, 1}.text(), nothing_);
  clients_.clear();
  thread_.join();
  EXPECT_EQ(Store(files_, root_).datasets(7), (std::vector<DatasetName>{{7, 4, run, 1}}));
}

TEST_F(KeeperBetweenRuns, SnapshotsOfADeletedGroupAreNotWritten) {
  hello_.lease = 1;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  rank.keep(plan_for(run, 5, {0}));
  only.memory().drop_snapshots({7, run, 1, -1});
  // The group was made again.
  DatasetPlan again = plan_for(run, 0, {0});
  again.name.generation = 2;
  rank.keep(again);
  clients_.clear();
  thread_.join();
  EXPECT_EQ(Store(files_, root_).datasets(7), (std::vector<DatasetName>{again.name}));
}

TEST_F(KeeperBetweenRuns, MemoryOfARemovedStoreIsForgotten) {
  hello_.lease = 60;
  KeeperClient& first = client();
  const auto run = joined(first);
  first.memory().keep_group({7, 0, 1, run, 1}, some_bytes(10, 1), {});
  EXPECT_EQ(first.memory().kept_groups(nothing_).size(), 1U);
  clients_.clear();
  for (const auto& each : std::filesystem::directory_iterator(root_)) std::filesystem::remove_all(each.path());
  KeeperClient& second = client();
  EXPECT_EQ(second.memory().kept_groups(nothing_).size(), 1U);
  EXPECT_EQ(joined(second), 1U);
  EXPECT_EQ(second.memory().kept_groups(nothing_).size(), 0U);
}

TEST_F(KeeperBetweenRuns, DamageIsFoundWithoutTheData) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(kKeptSize, 1));
  const auto run = joined(only);
  const DatasetPlan plan = plan_for(run, 0, {0});
  EXPECT_EQ(rank.flush(plan).code, KeeperCode::done);
  EXPECT_TRUE(only.datasets().verify(plan.name, 0, nothing_));
  EXPECT_FALSE(only.datasets().verify(plan.name, 1, nothing_));
  std::fstream data(root_ + "/" + plan.name.text() + "/d.0.0", std::ios::in | std::ios::out | std::ios::binary);
  data.seekp(static_cast<std::streamoff>(Extent::kPiece) + 5);
  data.put('x').put('y').flush();
  EXPECT_FALSE(only.datasets().verify(plan.name, 0, nothing_));
}

// A store without a dataset that can be used says which there are.
TEST_F(KeeperBetweenRuns, AStartIsToldWhatCannotBeUsed) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  const DatasetPlan plan = plan_for(run, 0, {0});
  EXPECT_EQ(rank.flush(plan).code, KeeperCode::done);
  std::filesystem::resize_file(root_ + "/" + plan.name.text() + "/plan", 10);
  const auto found = only.datasets().find({7, "", {}, run + 1, 1}, nothing_);
  EXPECT_FALSE(found.plan);
  EXPECT_EQ(found.unusable,
            std::vector<std::string>{"the dataset " + plan.name.text() + " is damaged: its plan is damaged"});
}

// A keeper has one message for it.
TEST_F(KeeperBetweenRuns, AStartIsToldOfAnyNumberOfThem) {
  constexpr int kMany = 10000;
  hello_.seconds = 60;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  const DatasetPlan plan = plan_for(run, 0, {0});
  EXPECT_EQ(rank.flush(plan).code, KeeperCode::done);
  for (int i = 1; i <= kMany; ++i) {
    std::filesystem::create_directory(root_ + "/" + DatasetName{7, i, run, 1}.text());
  }
  const auto found = only.datasets().find({7, "", {}, run + 1, 1}, nothing_);
  EXPECT_EQ(found.plan, plan);
  ASSERT_EQ(found.unusable.size(), 11U);
  EXPECT_EQ(found.unusable.front(), "the dataset 7.10000.1.1 is incomplete: it has no plan");
  EXPECT_EQ(found.unusable.back(), "9990 more datasets cannot be used: fenix-index says of each one why");
}

TEST_F(KeeperBetweenRuns, AStartIsToldOfThemInOneMessageHoweverLongTheirPathsAre) {
  (void)joined(client());
  std::string root = root_;
  for (int i = 0; i < 12; ++i) root += "/" + std::string(250, 'x');
  std::filesystem::create_directories(root);
  for (int i = 0; i < 40; ++i) std::ofstream(root + "/" + DatasetName{7, i, 1, 1}.text()) << "no folder";
  WritesUnderWay under_way;
  StoreRequests requests(files_, root, under_way, std::chrono::seconds(0));
  Descriptor file;
  const Message question{KeeperOp::find, 1, KeeperCode::done, {}, encode_body(Search{7, "", {}, 2, 1})};
  const Message answer = requests.run(question, {}, file);
  EXPECT_EQ(answer.code, KeeperCode::none) << answer.text;
  EXPECT_LT(encode(answer).size(), kMostDatagramBytes);
  const auto said = decode_body<FoundInStore>(answer.body);
  ASSERT_TRUE(said && said->unusable.size() > 1);
  EXPECT_TRUE(said->unusable.front().starts_with("the dataset 7.39.1.1 is unreadable: ")) << said->unusable.front();
}

// Each of them may be being written, for all that the next job knows.
TEST_F(KeeperBetweenRuns, WhatAnEarlierRunHasLeftIsWatchedAllAtOnce) {
  constexpr int kMany = 8;
  KeeperClient& only = client();
  const auto run = joined(only);
  for (int i = 0; i < kMany; ++i) {
    const std::string folder = root_ + "/" + DatasetName{7, i, run, 1}.text();
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/d.0.0") << "some bytes";
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(only.datasets().find({7, "", {}, run + 1, 1}, nothing_).plan);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
}

// P10: another node may have made the folder a moment ago, and be about to write.
TEST_F(KeeperBetweenRuns, AnEmptyFolderMayBeOneThatIsBeingWritten) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  EXPECT_EQ(rank.flush(plan_for(run, 0, {0})).code, KeeperCode::done);
  EXPECT_EQ(rank.flush(plan_for(run, 1, {0})).code, KeeperCode::done);
  const std::string folder = root_ + "/" + DatasetName{7, 1, run, 1}.text();
  std::filesystem::rename(folder, root_ + "/written");
  std::filesystem::create_directory(folder);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::filesystem::rename(root_ + "/written", folder);
  });
  const auto found = only.datasets().find({7, "", {}, run + 1, 1}, nothing_);
  writer.join();
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->name.time_stamp, 1);
}

TEST_F(KeeperBetweenRuns, WhatAnEarlierRunHasLeftOfManyGroupsIsWatchedAtOnce) {
  constexpr int kMany = 6;
  KeeperClient& only = client();
  const auto run = joined(only);
  for (int group = 0; group < kMany; ++group) {
    const std::string folder = root_ + "/" + DatasetName{group, 0, run, 1}.text();
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/d.0.0") << "some bytes";
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int group = 0; group < kMany; ++group) {
    EXPECT_FALSE(only.datasets().find({group, "", {}, run + 1, 1}, nothing_).plan);
  }
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(KeeperBetweenRuns, AnyNumberOfDatasetsIsPassedOver) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  EXPECT_EQ(rank.flush(plan_for(run, 0, {0})).code, KeeperCode::done);
  EXPECT_EQ(rank.flush(plan_for(run, 1, {0})).code, KeeperCode::done);
  Search search{7, "", {}, run + 1, 0};
  for (int stamp = 1; stamp < 10000; ++stamp) search.passed_over.push_back(DatasetName{7, stamp, run, 1}.text());
  const auto found = only.datasets().find(search, nothing_);
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->name.time_stamp, 0);
}

// P10: what was told complete stays until a newer flush, also if it is an older snapshot.
TEST_F(KeeperBetweenRuns, AnOlderSnapshotThatIsFlushedIsThere) {
  hello_.kept = 1;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  const Store store(files_, root_);
  EXPECT_EQ(rank.flush(plan_for(run, 8, {0})).code, KeeperCode::done);
  EXPECT_EQ(rank.flush(plan_for(run, 5, {0})).code, KeeperCode::done);
  EXPECT_TRUE(store.complete({7, 5, run, 1}));
  EXPECT_TRUE(store.complete({7, 8, run, 1}));
  EXPECT_EQ(rank.flush(plan_for(run, 9, {0})).code, KeeperCode::done);
  EXPECT_EQ(store.datasets(7), (std::vector<DatasetName>{{7, 9, run, 1}}));
}

// P11: the answer is one message, whatever somebody has written.
TEST_F(KeeperBetweenRuns, AWishWithALongReasonEndsNoConnection) {
  KeeperClient& only = client();
  const auto run = joined(only);
  const auto number = only.connection().number();
  write_halt(files_, root_, {run, 7, {}, {}, std::string(100'000, 'x')});
  const auto wish = only.runs().halt_conditions(std::chrono::seconds(5), nothing_);
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->commits, 7U);
  EXPECT_EQ(wish->reason, std::string(HaltConditions::kMostReasonBytes, 'x'));
  EXPECT_EQ(only.connection().number(), number);
}

/// A keeper whose datasets lack the parts of another node.
class KeeperOfFirstNode : public KeeperBetweenRuns {
 protected:
  [[nodiscard]] std::size_t datasets() { return Store(files_, root_).datasets(7).size(); }
  /// Returns whether this becomes true within some seconds.
  static bool comes(const std::function<bool()>& is_true) {
    for (int i = 0; i < 1000 && !is_true(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return is_true();
  }
};

TEST_F(KeeperOfFirstNode, WhatOthersCannotWriteDoesNotFillTheStore) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  for (int stamp = 0; stamp < 12; ++stamp) {
    EXPECT_EQ(rank.flush(plan_for(run, stamp, {0, 1})).code, KeeperCode::done);
  }
  // FENIX_FLUSH_TIMEOUT is 1 second.
  EXPECT_TRUE(comes([this] { return datasets() <= Pruning::kMostAttempts; })) << datasets();
  // A whole one removes the rest.
  EXPECT_EQ(rank.flush(plan_for(run, 20, {0})).code, KeeperCode::done);
  EXPECT_TRUE(comes([this] { return datasets() == 1; })) << datasets();
  EXPECT_TRUE(Store(files_, root_).complete({7, 20, run, 1}));
}

// With the usual FENIX_FLUSH_TIMEOUT, one would be left for each flush of a minute.
TEST_F(KeeperOfFirstNode, WhatOthersCannotWriteDoesNotPileUpForLong) {
  hello_.seconds = 60;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  for (int stamp = 0; stamp < 20; ++stamp) {
    EXPECT_EQ(rank.flush(plan_for(run, stamp, {0, 1})).code, KeeperCode::done);
  }
  (void)comes([this] { return datasets() < 20; });
  EXPECT_TRUE(comes([this] { return datasets() <= 4 + Pruning::kMostAttempts; })) << datasets();
  // The keeper lives until the others are whole, or a minute has passed.
  const OfferingRank other(only, some_bytes(1000, 2), 1);
  for (const DatasetName& each : Store(files_, root_).datasets(7)) {
    EXPECT_EQ(other.flush(plan_for(run, each.time_stamp, {0, 1})).code, KeeperCode::done);
  }
  EXPECT_TRUE(comes([this, run] { return Store(files_, root_).complete({7, 19, run, 1}).has_value(); }));
}

TEST_F(KeeperOfFirstNode, WhatOthersAreWritingStaysHoweverLongItTakes) {
  hello_.seconds = 2;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = joined(only);
  for (int stamp = 0; stamp < 4; ++stamp) {
    EXPECT_EQ(rank.flush(plan_for(run, stamp, {0, 1})).code, KeeperCode::done);
  }
  const DatasetName oldest{7, 0, run, 1};
  std::ofstream part(root_ + "/" + oldest.text() + "/d.1.0");
  const auto is_there = [&] { return std::filesystem::exists(root_ + "/" + oldest.text()); };
  for (int i = 0; i < 60; ++i) {
    part << "some bytes" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(is_there()) << i;
  }
  EXPECT_TRUE(comes([&] { return !is_there(); }));
}

}  // namespace
}  // namespace fenix_test
