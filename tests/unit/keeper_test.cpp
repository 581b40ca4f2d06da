// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node, run in a thread: ranks connect to it through sockets, and offer memory.
#include "keeper/keeper.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/simd/slot_hashes.hpp"
#include "keeper/client/client.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"
#include "support/keeper_of_node.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

TEST_F(KeeperOfNode, WritesWhatAllRanksOfferAndReadsIt) {
  KeeperClient& first = client();
  KeeperClient& second = client();
  EXPECT_EQ(first.runs().begin(nothing_).run.number, 1U);
  const auto run = second.runs().begin(nothing_).run.number;
  EXPECT_EQ(run, 2U);
  const auto a = some_bytes(kKeptSize, 1);
  const auto b = some_bytes(5, 2);
  const DatasetPlan plan = plan_for(run, 4, {0, 0});
  const OfferingRank rank_a(first, a);
  const OfferingRank rank_b(second, b, 1);
  const auto flush = rank_a.begin_flush(plan);
  EXPECT_FALSE(first.flushes().outcome(flush));
  EXPECT_FALSE(first.datasets().is_complete(plan.name, nothing_));
  EXPECT_EQ(rank_b.flush(plan).code, KeeperCode::done);
  EXPECT_EQ(outcome_of(first, flush).code, KeeperCode::done);
  EXPECT_TRUE(first.datasets().is_complete(plan.name, nothing_));

  EXPECT_EQ(second.datasets().find({7, "", {}, 0, 0}, nothing_).plan, plan);
  EXPECT_FALSE(second.datasets().find({7, "", {plan.name.text()}, 0, 0}, nothing_).plan);
  EXPECT_FALSE(second.datasets().find({8, "", {}, 0, 0}, nothing_).plan);
  const auto stored = second.datasets().rank(plan.name, 0, nothing_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->record, some_bytes(100, 0));
  KeptBytes read(kKeptSize + 100);
  const RankMemory target(read);
  EXPECT_TRUE(
      second.datasets().read({plan.name.text(), 0, kOffered, 0, Extent::kPiece, 100}, target.file->get(), nothing_));
  EXPECT_TRUE(second.datasets().read(
      {plan.name.text(), 0, kOffered, Extent::kPiece, kKeptSize - Extent::kPiece, 100 + Extent::kPiece},
      target.file->get(), nothing_));
  EXPECT_EQ(::pread(target.file->get(), read.data(), read.size(), 0), static_cast<ssize_t>(read.size()));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), read.begin() + 100));
  EXPECT_FALSE(second.datasets().rank(plan.name, 2, nothing_));
  const auto list = first.datasets().list(nothing_);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0], (Listed{plan.name.text(), "", 1, 0}));
  EXPECT_TRUE(first.datasets().set_current(plan.name.text(), nothing_));
  EXPECT_FALSE(first.datasets().set_current("7.9.9.9", nothing_));
  EXPECT_EQ(first.datasets().list(nothing_)[0].current, 1U);
  EXPECT_TRUE(first.datasets().remove(plan.name.text(), nothing_));
  EXPECT_FALSE(first.datasets().remove(plan.name.text(), nothing_));
  EXPECT_FALSE(first.datasets().find({7, "", {}, 0, 0}, nothing_).plan);
}

TEST_F(KeeperOfNode, EndsWithItsLastRankAndNotBefore) {
  KeeperClient& only = client();
  const DatasetPlan plan = plan_for(only.runs().begin(nothing_).run.number, 0, {0});
  (void)OfferingRank(only, some_bytes(kKeptSize, 1)).begin_flush(plan);
  // The rank has died, and its data is written all the same.
  clients_.clear();
  thread_.join();
  EXPECT_TRUE(ended_well_);
  PosixFileSystem files;
  EXPECT_TRUE(Store(files, root_).complete(plan.name));
}

TEST_F(KeeperOfNode, AnOfferThatIsOvertakenDoesNotCount) {
  KeeperClient& only = client();
  auto bytes = some_bytes(kKeptSize, 1);
  OfferingRank rank(only, bytes);
  bytes[kKeptSize - 1] ^= std::byte{1};
  rank.offer = offer_of(0, bytes);
  const DatasetPlan plan = plan_for(only.runs().begin(nothing_).run.number, 0, {0});
  EXPECT_EQ(rank.flush(plan).code, KeeperCode::gone);
  EXPECT_FALSE(only.datasets().is_complete(plan.name, nothing_));
}

TEST_F(KeeperOfNode, MemoryThatMayShrinkIsRefused) {
  KeeperClient& only = client();
  const auto bytes = some_bytes(1000, 1);
  const DatasetPlan plan = plan_for(only.runs().begin(nothing_).run.number, 0, {0});
  EXPECT_EQ(OfferingRank(only, bytes, 0, /*sealed=*/false).flush(plan).code, KeeperCode::failed);
  OfferingRank small(only, some_bytes(999, 1));
  small.offer = offer_of(0, bytes);
  EXPECT_EQ(small.flush(plan).code, KeeperCode::failed);
}

TEST_F(KeeperOfNode, AFullDiskFailsOneFlush) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = only.runs().begin(nothing_).run.number;
  trouble_.error = ENOSPC;
  const auto failed = rank.flush(plan_for(run, 0, {0}));
  EXPECT_EQ(failed.code, KeeperCode::failed);
  EXPECT_NE(failed.text.find("No space"), std::string::npos) << failed.text;
  trouble_.error = 0;
  EXPECT_EQ(rank.flush(plan_for(run, 1, {0})).code, KeeperCode::done);
}

TEST_F(KeeperOfNode, AHungFileSystemHangsNobodyElse) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = only.runs().begin(nothing_).run.number;
  trouble_.hangs = true;
  const auto outcome = rank.flush(plan_for(run, 0, {0}));
  EXPECT_EQ(outcome.code, KeeperCode::failed);
  EXPECT_EQ(outcome.text, "the file system does not answer");
  // No other one begins before it answers.
  EXPECT_EQ(rank.flush(plan_for(run, 1, {0})).code, KeeperCode::failed);
  trouble_.hangs = false;
  // It answers a while later, on a busy machine much later.
  constexpr int kMostAttempts = 60;
  KeeperCode code = KeeperCode::failed;
  for (int attempt = 2; attempt < kMostAttempts && code != KeeperCode::done; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    code = rank.flush(plan_for(run, attempt, {0})).code;
  }
  EXPECT_EQ(code, KeeperCode::done);
}

TEST_F(KeeperOfNode, ARankThatDoesNotOfferEndsTheWait) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const DatasetPlan plan = plan_for(only.runs().begin(nothing_).run.number, 0, {0, 0});
  EXPECT_EQ(rank.flush(plan).code, KeeperCode::gone);
}

TEST_F(KeeperOfNode, ADatasetThatIsTriedTooOftenComesLast) {
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = only.runs().begin(nothing_).run.number;
  for (const int stamp : {0, 1}) {
    EXPECT_EQ(rank.flush(plan_for(run, stamp, {0})).code, KeeperCode::done);
  }
  const auto newest = [&](std::uint32_t tried_by) {
    return only.datasets().find({7, "", {}, tried_by, tried_by == 0 ? 0U : 1U}, nothing_).plan->name.time_stamp;
  };
  for (std::uint32_t tried_by : {2U, 3U, 4U}) EXPECT_EQ(newest(tried_by), 1);
  EXPECT_EQ(newest(0), 0);
  only.datasets().note_taken({7, 1, run, 1});
  EXPECT_EQ(newest(0), 1);
}

TEST_F(KeeperOfNode, OldDatasetsGoIfSoManyAreKept) {
  hello_.kept = 2;
  KeeperClient& only = client();
  const OfferingRank rank(only, some_bytes(1000, 1));
  const auto run = only.runs().begin(nothing_).run.number;
  for (const int stamp : {0, 1, 2, 3, 4}) {
    DatasetPlan plan = plan_for(run, stamp, {0});
    if (stamp == 1) plan.label = "dear";
    EXPECT_EQ(rank.flush(plan).code, KeeperCode::done);
  }
  std::vector<std::string> names;
  for (const Listed& each : only.datasets().list(nothing_)) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"7.4.1.1", "7.3.1.1", "7.1.1.1"}));
  EXPECT_EQ(only.datasets().find({7, "dear", {}, 0, 0}, nothing_).plan->name.time_stamp, 1);
}

TEST_F(KeeperOfNode, KeepsMemoryForTheNextJob) {
  hello_.lease = 60;
  const auto description = some_bytes(500, 1);
  const RankMemory memory(some_bytes(kKeptSize, 2));
  auto first = std::make_unique<KeeperClient>("/nonexistent", hello_);
  const auto run = first->runs().begin(nothing_).run.number;
  // Other memory of the same group takes the place of what was there.
  for (const int files : {1, 3}) {
    first->memory().keep_group({7, 0, 2, run, 1}, description,
                               std::vector<int>(static_cast<std::size_t>(files), memory.file->get()));
  }
  first->memory().keep_group({8, 0, 2, run, 1}, description, {});
  EXPECT_EQ(first->memory().kept_groups(nothing_), (std::vector<KeptGroupOf>{{7, 0, 2, run, 1}, {8, 0, 2, run, 1}}));
  first->memory().drop_group({8, 0, 2, run, 1});
  EXPECT_EQ(first->memory().kept_groups(nothing_).size(), 1U);
  EXPECT_EQ(first->runs().begin(nothing_).run.number, run + 1);
  // All ranks have died, and another job begins.
  first.reset();
  KeeperClient& second = client();
  const auto kept = second.memory().kept_group({7, 0, 2, 9}, kKeeperLimit, nothing_);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->description, description);
  ASSERT_EQ(kept->at.files.size(), 3U);
  for (const int file : kept->at.files) {
    const std::string path = "/proc/" + std::to_string(kept->at.process) + "/fd/" + std::to_string(file);
    const Descriptor opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(read_memory_file(opened), some_bytes(kKeptSize, 2));
  }
  EXPECT_FALSE(second.memory().kept_group({7, 1, 2, 9}, kKeeperLimit, nothing_));
  EXPECT_FALSE(second.memory().kept_group({7, 0, 3, 9}, kKeeperLimit, nothing_));
  EXPECT_FALSE(second.memory().kept_group({8, 0, 2, 9}, kKeeperLimit, nothing_));
  // From then on only memory of the second job counts, also that of other ranks.
  KeeperClient& neighbour = client();
  neighbour.memory().keep_group({7, 1, 2, run + 1, 1}, description, {});
  EXPECT_FALSE(neighbour.memory().kept_group({7, 0, 2, 9}, kKeeperLimit, nothing_));
  // Since a repair it has another number.
  neighbour.memory().keep_group({7, 0, 1, run + 1, 1}, description, {});
  EXPECT_FALSE(neighbour.memory().kept_group({7, 1, 2, run + 1}, kKeeperLimit, nothing_));
  EXPECT_TRUE(neighbour.memory().kept_group({7, 0, 1, run + 1}, kKeeperLimit, nothing_));
  neighbour.memory().forget(run + 1);
  EXPECT_FALSE(neighbour.memory().kept_group({7, 0, 1, run + 1}, kKeeperLimit, nothing_));
}

// A rank that is stopped may go on, and write.
TEST_F(KeeperOfNode, KeepsMemoryBackWhileARankMayUseIt) {
  hello_.lease = 60;
  auto dead = std::make_unique<KeeperClient>("/nonexistent", hello_);
  KeeperClient& stopped = client();
  const auto run = dead->runs().begin(nothing_).run.number;
  dead->memory().keep_group({7, 0, 2, run, 1}, some_bytes(5, 1), {});
  stopped.memory().keep_group({7, 1, 2, run, 1}, some_bytes(5, 1), {});
  (void)stopped.runs().begin(nothing_).run.number;
  (void)dead->runs().begin(nothing_).run.number;
  dead.reset();
  KeeperClient& other = client();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(other.memory().kept_group({7, 0, 2, 9}, kKeeperLimit, nothing_));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  clients_.erase(clients_.begin());
  EXPECT_TRUE(other.memory().kept_group({7, 0, 2, 9}, kKeeperLimit, nothing_));
  // From now on that rank uses it. Others of its own run may have it, as a repair gives its place to one of them.
  KeeperClient& third = client();
  EXPECT_TRUE(third.memory().kept_group({7, 1, 2, 9}, kKeeperLimit, nothing_));
  EXPECT_FALSE(third.memory().kept_group({7, 0, 2, 10}, kKeeperLimit, nothing_));
  other.memory().forget(run);
}

TEST_F(KeeperOfNode, WritesWhatNobodyTakes) {
  hello_.lease = 1;
  KeeperClient& only = client();
  const auto run = only.runs().begin(nothing_).run.number;
  const OfferingRank rank(only, some_bytes(kKeptSize, 1));
  rank.keep(plan_for(run, 5, {0}));
  rank.keep(plan_for(run, 6, {0, 0}));
  clients_.clear();
  thread_.join();
  EXPECT_TRUE(ended_well_);
  PosixFileSystem files;
  EXPECT_TRUE(Store(files, root_).complete({7, 5, run, 1}));
  EXPECT_EQ(Store(files, root_).datasets().size(), 1U);
}

TEST_F(KeeperOfNode, WritesAtOnceIfItIsTold) {
  hello_.lease = 3600;
  KeeperClient& only = client();
  const auto run = only.runs().begin(nothing_).run.number;
  const OfferingRank rank(only, some_bytes(kKeptSize, 1));
  rank.keep(plan_for(run, 5, {0}));
  only.memory().keep_group({7, 0, 1, run, 1}, some_bytes(10, 1), {});
  keeper_.load()->hurry();
  // Not while a rank lives.
  EXPECT_EQ(only.memory().kept_groups(nothing_).size(), 1U);
  EXPECT_FALSE(only.datasets().is_complete({7, 5, run, 1}, nothing_));
  clients_.clear();
  thread_.join();
  EXPECT_TRUE(ended_well_);
  PosixFileSystem files;
  EXPECT_TRUE(Store(files, root_).complete({7, 5, run, 1}));
}

TEST(Keeper, EndsIfNobodyConnects) {
  Listener listener = listen_at("fenix-test-nobody." + std::to_string(::getpid()));
  ASSERT_TRUE(listener);
  Keeper keeper(std::make_unique<PosixFileSystem>(), std::move(listener), std::chrono::milliseconds(300));
  EXPECT_TRUE(keeper.run());
}

TEST_F(KeeperOfNode, NonsenseEndsOnlyItsConnection) {
  KeeperClient& good = client();
  EXPECT_EQ(good.runs().begin(nothing_).run.number, 1U);
  Descriptor bad = connect_to(good.connection().socket_name());
  ASSERT_TRUE(bad);
  const auto nonsense = some_bytes(200, 9);
  EXPECT_TRUE(send_datagram(bad.get(), nonsense, {}) == Sent::sent);
  EXPECT_EQ(good.runs().begin(nothing_).run.number, 2U);
}

// A rank that ends has not read all answers.
TEST(LocalSocket, WhatWasSentBeforeTheEndIsReceived) {
  const std::string name = "fenix-test." + std::to_string(::getpid());
  Listener listener = listen_at(name);
  ASSERT_TRUE(listener);
  Descriptor rank = connect_to(name);
  const Descriptor keeper = accept_from(listener.socket);
  ASSERT_TRUE(rank && keeper);
  const auto answer = some_bytes(100, 1);
  ASSERT_TRUE(send_datagram(keeper.get(), answer, {}) == Sent::sent);
  const auto last_words = some_bytes(200, 2);
  ASSERT_TRUE(send_datagram(rank.get(), last_words, {}) == Sent::sent);
  rank = Descriptor();
  Datagram got;
  ASSERT_EQ(receive_datagram(keeper.get(), got), Received::message);
  EXPECT_EQ(got.bytes, last_words);
  EXPECT_EQ(receive_datagram(keeper.get(), got), Received::end);
  close_listener(listener);
}

TEST(KeeperMessage, AreReadAsTheyWereWritten) {
  const Message message{KeeperOp::find, 7, KeeperCode::gone, "why", some_bytes(9, 1)};
  EXPECT_EQ(decode_message(encode(message)), message);
  const Search search{-3, "label", {"1.2.3.4", ""}, 9};
  EXPECT_EQ(decode_body<Search>(encode_body(search)), search);
  const Reading reading{"1.2.3.4", 5, -6, 7, 8, 9};
  EXPECT_EQ(decode_body<Reading>(encode_body(reading)), reading);
  const std::vector<Listed> list{{"1.2.3.4", "x", 3, 1}, {"", "", 0, 0}};
  EXPECT_EQ(decode_body<std::vector<Listed>>(encode_body(list)), list);
  const Hello hello{"/there", 1, 2, 3, 4};
  EXPECT_EQ(decode_body<Hello>(encode_body(hello)), hello);
  const RankOffer offer = offer_of(2, some_bytes(300000, 1));
  EXPECT_EQ(decode_offer(encode(offer)), offer);
  auto cut = encode(offer);
  cut.pop_back();
  EXPECT_FALSE(decode_offer(cut));
}

}  // namespace
}  // namespace fenix_test
