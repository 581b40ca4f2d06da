// SPDX-License-Identifier: BSD-3-Clause
// Recovery lines: traces of ranks, the greatest consistent cut of them, and the record that each rank stores.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <string>

#include "base/error.hpp"
#include "checkpoint/line_record.hpp"
#include "checkpoint/trace.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

using DecidedOnLine = std::optional<std::vector<int>>;

MessageFlow flow(int source, int destination, int tag = 0) { return {1, source, destination, tag, 0}; }

DecidedOnLine outcome(const std::vector<int>& numbers) { return numbers; }

// ------------------------------------------------------------------------------------------------------------ forced outcomes

TEST(Trace, OutcomesAreForcedInTheirOrder) {
  Trace trace;
  trace.note_outcome(DeterminantKind::test, {});
  trace.note_outcome(DeterminantKind::test, {});
  trace.note_outcome(DeterminantKind::test, std::array{1});
  trace.note_outcome(DeterminantKind::waitsome, std::array{3, 0});
  ForcedOutcomes forced(trace, trace.words().size());
  EXPECT_EQ(forced.next(DeterminantKind::test, true), outcome({}));
  EXPECT_EQ(forced.next(DeterminantKind::test, true), outcome({}));
  EXPECT_EQ(forced.next(DeterminantKind::test, true), outcome({1}));
  EXPECT_FALSE(forced.empty());
  EXPECT_EQ(forced.next(DeterminantKind::waitsome, false), outcome({3, 0}));
  EXPECT_TRUE(forced.empty());
  EXPECT_EQ(forced.next(DeterminantKind::test, true), std::nullopt);
}

TEST(Trace, CallsThatFindNothingTakeTheRoomOfOne) {
  Trace trace;
  for (int i = 0; i < 1000; ++i) trace.note_outcome(DeterminantKind::iprobe, {});
  EXPECT_EQ(trace.words().size(), 2U);
  trace.note_sent(flow(0, 1));
  trace.note_outcome(DeterminantKind::iprobe, {});
  EXPECT_EQ(trace.words().size(), 6U) << "a cut may lie between them";
}

TEST(Trace, AnotherCallThanBeforeIsAnError) {
  Trace trace;
  trace.note_outcome(DeterminantKind::test, {});
  trace.note_outcome(DeterminantKind::test, std::array{1});
  ForcedOutcomes forced(trace, trace.words().size());
  EXPECT_THROW((void)forced.next(DeterminantKind::waitany, false), Error) << "it would have to find nothing";
  EXPECT_EQ(forced.next(DeterminantKind::iprobe, true), outcome({})) << "which call finds nothing does not matter";
  EXPECT_THROW((void)forced.next(DeterminantKind::iprobe, true), Error);
}

TEST(Trace, MatchesAreForcedByReceive) {
  Trace trace;
  trace.note_match(7, 2, 5);
  trace.note_match(6, 1, 4);
  ForcedOutcomes forced(trace, trace.words().size());
  EXPECT_FALSE(forced.match_of(5).has_value());
  const auto match = forced.match_of(6);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->source, 1);
  EXPECT_EQ(match->tag, 4);
  EXPECT_FALSE(forced.match_of(6).has_value()) << "once";
  EXPECT_TRUE(forced.match_of(7).has_value());
  EXPECT_TRUE(forced.empty());
}

// ------------------------------------------------------------------------------------------------------------------------ cut

/// Returns the greatest consistent cut of some traces, as the ranks find it together.
template <std::size_t ranks>
std::array<std::size_t, ranks> cut_of(const std::array<Trace, ranks>& traces, const FlowCounts& before_line = {}) {
  std::array<std::size_t, ranks> ends{};
  for (std::size_t i = 0; i < ranks; ++i) ends[i] = traces[i].words().size();
  for (auto before = ends;; before = ends) {
    FlowCounts sent = before_line;
    for (std::size_t i = 0; i < ranks; ++i) traces[i].add_sent(ends[i], sent);
    for (std::size_t i = 0; i < ranks; ++i) ends[i] = traces[i].first_without_sender(ends[i], sent);
    if (before == ends) return ends;
  }
}

TEST(Cut, LiesAtTheEndsIfAllMessagesHaveSenders) {
  std::array<Trace, 2> traces;
  traces[0].note_sent(flow(0, 1));
  traces[1].note_delivered(flow(0, 1), 1);
  traces[1].note_outcome(DeterminantKind::test, std::array{1});
  EXPECT_EQ(cut_of(traces), (std::array{traces[0].words().size(), traces[1].words().size()}));
}

// The sender had stopped before it sent: its choices before the message are made anew, and the message may be another one.
TEST(Cut, LiesBeforeAMessageThatWasSentAfterTheStop) {
  std::array<Trace, 2> traces;
  traces[0].note_outcome(DeterminantKind::test, std::array{1});
  traces[1].note_outcome(DeterminantKind::test, std::array{1});
  const std::size_t end = traces[1].words().size();
  traces[1].note_delivered(flow(0, 1), 1);
  traces[1].note_outcome(DeterminantKind::probe, std::array{0, 3});
  EXPECT_EQ(cut_of(traces), (std::array{traces[0].words().size(), end}));
}

// Rank 2 depends on rank 1, which depends on a message of rank 0 beyond its stop.
TEST(Cut, GoesOnFromRankToRank) {
  std::array<Trace, 3> traces;
  traces[1].note_delivered(flow(0, 1), 1);
  traces[1].note_sent(flow(1, 2));
  traces[2].note_outcome(DeterminantKind::test, {});
  const std::size_t end = traces[2].words().size();
  traces[2].note_delivered(flow(1, 2), 1);
  traces[2].note_outcome(DeterminantKind::test, std::array{1});
  EXPECT_EQ(cut_of(traces), (std::array{std::size_t{0}, std::size_t{0}, end}));
}

TEST(Cut, MessagesFromBeforeTheLineHaveSenders) {
  std::array<Trace, 2> traces;
  traces[1].note_delivered(flow(0, 1), 5);
  traces[1].note_delivered(flow(0, 1), 6);
  EXPECT_EQ(cut_of(traces, {{flow(0, 1), 6}})[1], traces[1].words().size());
  EXPECT_EQ(cut_of(traces, {{flow(0, 1), 5}})[1], 3U);
}

TEST(Cut, TellsFlowsApart) {
  std::array<Trace, 2> traces;
  traces[0].note_sent(flow(0, 1, 4));
  traces[1].note_delivered(flow(0, 1, 3), 1);
  EXPECT_EQ(cut_of(traces)[1], 0U);
}

// --------------------------------------------------------------------------------------------------------------------- record

LineRecord example() {
  LineRecord record;
  record.ranks = 3;
  record.receives = 12;
  record.sent = {{flow(0, 1), 1, 0, 4}, {flow(0, 2, 9), 2, 0, 1}};
  record.received = {{flow(2, 0), 2, 0, 7}};
  record.late = {{flow(2, 0), 8, {std::byte{1}, std::byte{2}}}, {flow(1, 0, 5), 1, {}}};
  record.trace.note_sent(flow(0, 1));
  record.trace.note_delivered(flow(2, 0), 8);
  record.trace.note_outcome(DeterminantKind::testsome, std::array{1, 0});
  return record;
}

TEST(LineRecord, ComesBackAsItWas) {
  const LineRecord record = example();
  const auto bytes = record.encode(4096);
  ASSERT_TRUE(bytes.has_value());
  std::vector<std::byte> memory = *bytes;
  memory.resize(4096);
  const LineRecord read = LineRecord::decode(memory);
  EXPECT_EQ(read.ranks, 3);
  EXPECT_TRUE(read.is_whole);
  EXPECT_EQ(read.receives, 12U);
  ASSERT_EQ(read.sent.size(), 2U);
  EXPECT_EQ(read.sent[1].flow, flow(0, 2, 9));
  EXPECT_EQ(read.sent[1].peer, 2);
  EXPECT_EQ(read.sent[1].count, 1U);
  ASSERT_EQ(read.received.size(), 1U);
  EXPECT_EQ(read.received[0].count, 7U);
  ASSERT_EQ(read.late.size(), 2U);
  EXPECT_EQ(read.late[0].flow, flow(2, 0));
  EXPECT_EQ(read.late[0].number, 8U);
  EXPECT_EQ(read.late[0].bytes, record.late[0].bytes);
  EXPECT_EQ(read.trace.words(), record.trace.words());
  EXPECT_EQ(read.trace.flows(), record.trace.flows());
}

TEST(LineRecord, ThatHasNoRoomIsNotWritten) {
  const std::size_t bytes = example().encode(4096)->size();
  EXPECT_TRUE(example().encode(bytes).has_value());
  EXPECT_FALSE(example().encode(bytes - 1).has_value());
}

TEST(LineRecord, WithoutALogSaysSo) {
  LineRecord record = example();
  record.is_whole = false;
  const LineRecord read = LineRecord::decode(*record.encode(4096));
  EXPECT_FALSE(read.is_whole);
  EXPECT_TRUE(read.late.empty());
  EXPECT_TRUE(read.trace.words().empty());
}

// Whatever is in the memory, it is refused or makes sense.
TEST(LineRecord, DamageIsNoticedOrDoesNoHarm) {
  std::mt19937 chance(1);
  const std::vector<std::byte> whole = *example().encode(4096);
  EXPECT_THROW((void)LineRecord::decode({}), Error);
  EXPECT_THROW((void)LineRecord::decode(std::vector<std::byte>(4096)), Error);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW((void)LineRecord::decode(std::span(whole).first(length)), Error) << length;
  }
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> damaged = whole;
    damaged[chance() % damaged.size()] = static_cast<std::byte>(chance());
    try {
      const LineRecord read = LineRecord::decode(damaged);
      FlowCounts sent;
      read.trace.add_sent(read.trace.words().size(), sent);
      (void)read.trace.first_without_sender(read.trace.words().size(), sent);
      (void)ForcedOutcomes(read.trace, read.trace.words().size()).empty();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), FENIX_ERROR_NODATA_FOUND);
    }
  }
}

}  // namespace
}  // namespace fenix_test
