// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not read what the keeper says, and keepers that say nothing: neither waits for the other (P11), and no end of a flush is lost.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "keeper/keeper_peer.hpp"
#include "recovery/groups/storage/failed_flushes.hpp"
#include "store/store.hpp"
#include "support/keeper_of_node.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;
using SteadyClock = std::chrono::steady_clock;

class KeeperAnswers : public KeeperOfNode {};

/// A rank that sends requests and does not look at the answers.
class DeafRank {
 public:
  DeafRank(const std::string& name, const Hello& hello) : socket_(connect_to(name)) {
    send({KeeperOp::hello, 0, KeeperCode::done, {}, encode_body(hello)});
  }
  void send(const Message& message) { EXPECT_EQ(send_datagram(socket_.get(), encode(message), {}), Sent::sent); }
  /// Returns the next message; nullopt if none comes for some seconds.
  std::optional<Message> read() {
    constexpr int kMilliseconds = 5000;
    Datagram datagram;
    pollfd watched{socket_.get(), POLLIN, 0};
    if (::poll(&watched, 1, kMilliseconds) <= 0) return std::nullopt;
    if (receive_datagram(socket_.get(), datagram) != Received::message) return std::nullopt;
    return decode_message(datagram.bytes);
  }

 private:
  Descriptor socket_;
};

// More answers than a socket has room for.
TEST_F(KeeperAnswers, WaitsForNoRankAndLosesNoAnswer) {
  constexpr std::uint64_t kRequests = 1500;
  KeeperClient& other = client();
  (void)other.runs().begin(nothing_);
  DeafRank deaf(other.connection().socket_name(), hello_);
  const auto begin = SteadyClock::now();
  for (std::uint64_t id = 1; id <= kRequests; ++id) deaf.send({KeeperOp::list_groups, id, KeeperCode::done, {}, {}});
  deaf.send({KeeperOp::begin_run, kRequests + 1, KeeperCode::done, {}, {}});
  EXPECT_GE(other.runs().begin(nothing_).run.number, 2U);
  EXPECT_TRUE(other.memory().kept_groups(nothing_).empty());
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(5));
  std::set<std::uint64_t> answered;
  while (answered.size() <= kRequests) {
    const auto message = deaf.read();
    ASSERT_TRUE(message) << answered.size();
    EXPECT_EQ(message->code, KeeperCode::done) << message->text;
    EXPECT_TRUE(answered.insert(message->id).second);
  }
}

// Each second, for minutes: messages of progress fill the socket of a rank that computes. The end is heard all the same.
TEST(KeeperPeer, TellsTheEndBehindAnyNumberOfOtherMessages) {
  const std::string name = "fenix-test-peer." + std::to_string(::getpid());
  Listener listener = listen_at(name);
  ASSERT_TRUE(listener);
  const Descriptor rank = connect_to(name);
  KeeperPeer peer(accept_from(listener.socket));
  const auto begin = SteadyClock::now();
  for (int i = 0; i < 3000; ++i) peer.tell({KeeperOp::progress, 1, KeeperCode::done, {}, {}});
  EXPECT_FALSE(peer.has_rest());
  peer.answer({KeeperOp::flush, 1, KeeperCode::done, {}, {}}, to_memory_file(some_bytes(10, 1)));
  EXPECT_TRUE(peer.has_rest());
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(1));
  bool has_ended = false;
  Datagram datagram;
  while (!has_ended && receive_datagram(rank.get(), datagram) == Received::message) {
    peer.send_rest();
    has_ended = decode_message(datagram.bytes)->op == KeeperOp::flush;
  }
  EXPECT_TRUE(has_ended);
  ASSERT_EQ(datagram.files.size(), 1U);
  EXPECT_EQ(read_memory_file(datagram.files.front()), some_bytes(10, 1));
  EXPECT_FALSE(peer.has_rest());
  close_listener(listener);
}

// Each of them removes what it takes for left behind: never what another one begins to use.
TEST(KeeperNames, AreNotTakenAwayByKeepersThatEnd) {
  const std::string name = "fenix-test-name." + std::to_string(::getpid());
  std::atomic<bool> enough = false;
  std::thread others([&] {
    while (!enough) {
      Listener ended = listen_at(name + ".other");
      close_listener(ended);
    }
  });
  int missing = 0;
  for (int i = 0; i < 1000; ++i) {
    Listener listener = listen_at(name);
    if (!listener) ++missing;
    close_listener(listener);
  }
  enough = true;
  others.join();
  EXPECT_EQ(missing, 0);
}

/// A keeper that accepts ranks, and never says anything.
class SilentKeeper : public testing::Test {
 protected:
  SilentKeeper() {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-silent-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    hello_ = {root_, 0, 1, 0, 0};
    listener_ = listen_at(KeeperConnection("", hello_).socket_name());
    EXPECT_TRUE(listener_);
  }
  ~SilentKeeper() override {
    close_listener(listener_);
    std::filesystem::remove_all(root_);
  }

  std::string root_;
  Hello hello_;
  Listener listener_;
};

// Messages of the rank itself, with each commit, say nothing of the keeper.
TEST_F(SilentKeeper, IsNoticedByARankThatSends) {
  KeeperClient client("/nonexistent", hello_);
  const OfferingRank rank(client, some_bytes(1000, 1));
  const DatasetPlan plan = plan_for(1, 0, {0});
  const auto flush = rank.begin_flush(plan);
  const Descriptor keeper = accept_from(listener_.socket);
  Datagram read;
  std::optional<FlushOutcome> outcome;
  // FENIX_FLUSH_TIMEOUT is 1 second: 5 seconds are the least time.
  for (const auto begin = SteadyClock::now(); !outcome && SteadyClock::now() - begin < std::chrono::seconds(9);) {
    rank.keep(plan);
    while (receive_datagram(keeper.get(), read) == Received::message) continue;
    outcome = client.flushes().outcome(flush);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, KeeperCode::failed);
  EXPECT_EQ(outcome->text, "the keeper of this node does not answer");
  EXPECT_FALSE(client.flushes().knows(flush));
  // It is not waited for once more, until something is heard of it.
  const auto later = rank.begin_flush(plan);
  outcome = client.flushes().outcome(later);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, KeeperCode::failed);
  const Message told{KeeperOp::progress, later, KeeperCode::done, {}, {}};
  ASSERT_EQ(send_datagram(keeper.get(), encode(told), {}), Sent::sent);
  EXPECT_FALSE(client.flushes().outcome(rank.begin_flush(plan)));
}

// A keeper that is stopped: each commit offers its memory, and none of them waits.
TEST_F(SilentKeeper, KeepsNoCommitWaiting) {
  KeeperClient client("/nonexistent", hello_);
  const OfferingRank rank(client, some_bytes(1000, 1));
  auto longest = SteadyClock::duration::zero();
  for (int i = 0; i < 2000; ++i) {
    const auto begin = SteadyClock::now();
    rank.keep(plan_for(1, i, {0}));
    longest = std::max(longest, SteadyClock::now() - begin);
  }
  EXPECT_LT(longest, std::chrono::milliseconds(500));
  const auto begin = SteadyClock::now();
  EXPECT_THROW((void)rank.begin_flush(plan_for(1, 0, {0})), Error);
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(2));
}

// The keeper, in this process, may have the file of an answer open for a moment.
std::size_t open_files() {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (int i = 0; i < 10; ++i) {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    least = std::min(least, static_cast<std::size_t>(std::distance(begin(all), end(all))));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return least;
}

TEST_F(KeeperAnswers, AnswersThatComeTooLateLeaveNothing) {
  KeeperClient& blocking = client();
  KeeperClient& late = client();
  (void)late.runs().begin(nothing_);
  (void)late.datasets().list(nothing_);
  (void)blocking.datasets().list(nothing_);
  const std::size_t before = open_files();
  trouble_.hangs = true;
  // The reader is busy, for longer than the client waits: as with a slow file system.
  EXPECT_THROW((void)blocking.runs().begin(nothing_), Error);
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW((void)late.datasets().list([] { throw Error(FENIX_ERROR_CANCELLED, "enough"); }), Error);
  trouble_.hangs = false;
  // The reader counts as stuck for a while.
  bool has_answered = false;
  for (int i = 0; i < 100 && !has_answered; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    try {
      (void)late.datasets().list(nothing_);
      has_answered = true;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_TRUE(has_answered);
  for (int i = 0; i < 20 && open_files() != before; ++i) continue;
  EXPECT_EQ(open_files(), before);
}

TEST_F(KeeperAnswers, TellsThatMemoryIsNotKept) {
  hello_.lease = 60;
  KeeperClient& only = client();
  const auto run = only.runs().begin(nothing_).run.number;
  const OfferingRank good(only, some_bytes(1000, 1));
  good.keep(plan_for(run, 4, {0}));
  (void)only.memory().kept_groups(nothing_);
  EXPECT_FALSE(only.connection().refusal());
  // Its memory may become smaller.
  const OfferingRank bad(only, some_bytes(1000, 1), 0, /*sealed=*/false);
  bad.keep(plan_for(run, 5, {0}));
  (void)only.memory().kept_groups(nothing_);
  only.connection().look();
  const auto why = only.connection().refusal();
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "the memory of a rank is not where it said");
  EXPECT_FALSE(only.connection().refusal());
  only.memory().forget(run);
}

// A job without FENIX_KEEP does not go on with memory, and must not pin it. What nobody has written yet is written.
TEST_F(KeeperAnswers, AJobThatKeepsNothingReleasesWhatEarlierOnesHaveLeft) {
  hello_.lease = 3600;
  KeeperClient& first = client();
  const auto run = first.runs().begin(nothing_).run.number;
  const OfferingRank rank(first, some_bytes(kKeptSize, 1));
  rank.keep(plan_for(run, 5, {0}));
  first.memory().keep_group({7, 0, 1, run, 1}, some_bytes(10, 1), {});
  EXPECT_EQ(first.memory().kept_groups(nothing_).size(), 1U);
  clients_.clear();
  hello_.lease = 0;
  KeeperClient& second = client();
  const auto next = second.runs().begin(nothing_).run.number;
  second.memory().release(next);
  EXPECT_EQ(second.memory().kept_groups(nothing_).size(), 0U);
  bool is_written = false;
  for (int i = 0; !is_written && i < 500; ++i) {
    is_written = second.datasets().is_complete({7, 5, run, 1}, nothing_);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(is_written);
}

TEST(FailedFlushes, SomeAreRememberedAndNoFailureIsTakenForASuccess) {
  FailedFlushes failed;
  const std::uint64_t end = 3 * FailedFlushes::kMostRemembered;
  for (std::uint64_t flush = 2; flush < end; flush += 2) {
    failed.note(flush, {KeeperCode::failed, "full " + std::to_string(flush)});
    ASSERT_LE(failed.size(), FailedFlushes::kMostRemembered);
  }
  EXPECT_EQ(failed.outcome(end - 2).text, "full " + std::to_string(end - 2));
  EXPECT_EQ(failed.outcome(end - 1).code, KeeperCode::done);
  for (std::uint64_t flush = 2; flush < end; flush += 2) EXPECT_EQ(failed.outcome(flush).code, KeeperCode::failed);
}

}  // namespace
}  // namespace fenix_test
