// SPDX-License-Identifier: BSD-3-Clause
// Outcomes of calls that are not determined: a process that takes the place of a dead one has the same ones, as far as they are in the
// journal. They are there before each message, and before numbers are stored.
#include "messages/log/determinant_log.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "base/error.hpp"
#include "messages/log/message_log.hpp"
#include "support/journal_job.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

using DecidedIndices = std::optional<std::vector<int>>;

constexpr std::size_t kRoomOfDeterminants = 8192;  // of messages that fit
constexpr Signature kState{7, 0, 0};
const Flow kToOther{5, 1, 3};
const Flow kOtherTag{5, 1, 4};
const DecidedIndices kFreeToChoose;
const DecidedIndices kNothing{std::vector<int>()};

DecidedIndices outcome(const std::vector<int>& numbers) { return numbers; }

class Decisions : public ::testing::Test {
 protected:
  Decisions() : job(2, 1, false, Ring::bytes_for(kRoomOfDeterminants)) { job.attach(); }

  void send(MessageLog& to, const Flow& flow = kToOther) {
    const auto data = journal_bytes(100, 1);
    (void)to.sender().log_send(job.journal(0), flow, {data.size(), data});
  }
  void note(MessageLog& to, DeterminantKind call, const std::vector<int>& found) {
    to.determinants().note(call, found);
  }
  void note_nothing(MessageLog& to, int times) {
    for (int i = 0; i < times; ++i) note(to, DeterminantKind::test, {});
  }
  void store_state(MessageLog& to) {
    const auto state = journal_bytes(10, 0);
    to.numbers().store(job.journal(0), kState, 1);
    to.writer().append(job.journal(0), kState, 1, {state.size(), state});
  }

  void decide_and_send(int index, MessageLog& to) {
    note(to, DeterminantKind::waitany, {index});
    to.determinants().note_match(to.determinants().begin_receive(), {1, index});
    send(to);
  }
  void decide_and_send(int index) { decide_and_send(index, log); }

  /// Rank 0 dies. Returns whether the process that takes its place cannot be what it was.
  bool replaced_lacks_some() {
    job.kill(0);
    job.repair();
    return MessageLog().lacks_determinants_of_predecessor(job.journal(0));
  }

  /// Rank 0 dies. Returns the log of the process that takes its place.
  MessageLog& replaced() {
    job.kill(0);
    job.repair();
    MessageLog& replacement = replacements.emplace_back();
    MessageLog other;
    const auto ends = job.run([&](int rank, Journal& journal) {
      (rank == 0 ? replacement : other).reattach(job.team(rank), journal, /*goes_back=*/false);
    });
    EXPECT_EQ(ends[0], JobEnd::done);
    return replacement;
  }

  JournalJob job;
  MessageLog log;
  std::deque<MessageLog> replacements;
};

TEST_F(Decisions, AreThoseOfThePredecessorAndThenFree) {
  note_nothing(log, 3);
  note(log, DeterminantKind::test, {1});
  note(log, DeterminantKind::waitany, {4});
  send(log);
  note_nothing(log, 2);
  note(log, DeterminantKind::testsome, {2, 0});
  note_nothing(log, 1);
  send(log);
  MessageLog& next = replaced();
  DeterminantLog& determinants = next.determinants();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(determinants.next(DeterminantKind::test, true), kNothing);
  EXPECT_EQ(determinants.next(DeterminantKind::test, true), outcome({1}));
  EXPECT_EQ(determinants.next(DeterminantKind::waitany, false), outcome({4}));
  EXPECT_EQ(determinants.next(DeterminantKind::testsome, true), kNothing);
  EXPECT_EQ(determinants.next(DeterminantKind::testsome, true), kNothing);
  EXPECT_EQ(determinants.next(DeterminantKind::testsome, true), outcome({2, 0}));
  EXPECT_EQ(determinants.next(DeterminantKind::iprobe, true), kNothing);
  EXPECT_EQ(determinants.next(DeterminantKind::iprobe, true), kFreeToChoose);
}

TEST_F(Decisions, OfWhichNoMessageDependsAreFree) {
  note(log, DeterminantKind::test, {1});
  send(log);
  note(log, DeterminantKind::test, {1});
  log.determinants().note_match(log.determinants().begin_receive(), {1, 5});
  MessageLog& next = replaced();
  EXPECT_EQ(next.determinants().next(DeterminantKind::test, true), outcome({1}));
  EXPECT_EQ(next.determinants().next(DeterminantKind::test, true), kFreeToChoose);
  EXPECT_FALSE(next.determinants().match_of(next.determinants().begin_receive()));
}

TEST_F(Decisions, ReceivesGetTheSameMessagesInWhateverOrderTheyWereMatched) {
  const std::uint64_t first = log.determinants().begin_receive();
  const std::uint64_t second = log.determinants().begin_receive();
  log.determinants().note_match(second, {1, 8});
  send(log);
  log.determinants().note_match(first, {0, kTagOfCancelled});
  send(log);
  MessageLog& next = replaced();
  EXPECT_EQ(next.determinants().match_of(next.determinants().begin_receive()),
            (DeterminantLog::Match{0, kTagOfCancelled}));
  EXPECT_EQ(next.determinants().match_of(next.determinants().begin_receive()), (DeterminantLog::Match{1, 8}));
  EXPECT_FALSE(next.determinants().match_of(next.determinants().begin_receive()));
}

TEST_F(Decisions, GoOnAfterThoseOfSeveralPredecessors) {
  note(log, DeterminantKind::waitany, {1});
  send(log);
  MessageLog& second = replaced();
  EXPECT_EQ(second.determinants().next(DeterminantKind::waitany, false), outcome({1}));
  send(second);
  note(second, DeterminantKind::waitany, {2});
  send(second);
  MessageLog& third = replaced();
  EXPECT_EQ(third.determinants().next(DeterminantKind::waitany, false), outcome({1}));
  send(third);
  EXPECT_EQ(third.determinants().next(DeterminantKind::waitany, false), outcome({2}));
  EXPECT_EQ(third.determinants().next(DeterminantKind::waitany, false), kFreeToChoose);
}

TEST_F(Decisions, OfAnotherProgramAreAnError) {
  note(log, DeterminantKind::waitany, {1});
  note_nothing(log, 1);
  send(log);
  MessageLog& next = replaced();
  const auto text = [&](DeterminantKind call, bool may_be_negative) -> std::string {
    try {
      (void)next.determinants().next(call, may_be_negative);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_LOGIC_CALL);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(text(DeterminantKind::test, true).find("it calls MPI_Test, and that one had called MPI_Waitany"),
            std::string::npos);
  EXPECT_EQ(text(DeterminantKind::waitany, false), "");
  EXPECT_NE(text(DeterminantKind::waitsome, false).find("had made a call that found nothing"), std::string::npos);
}

TEST_F(Decisions, ManyNegativeOutcomesTakeNoRoom) {
  for (int i = 0; i < 10; ++i) {
    note_nothing(log, 100000);
    send(log);
  }
  std::size_t bytes = 0;
  for (const Entry& each : job.journal(0).reader().messages_of(0)) bytes += each.head.bytes;
  // And an entry that says that none is lost.
  EXPECT_EQ(bytes, 10U * (100 + 4 * sizeof(std::int64_t)) + sizeof(DeterminantLog::Position));
}

TEST_F(Decisions, GoOnWhereTheJournalIsFullAndTheReplacementKnowsThatSomeAreLost) {
  for (int i = 0; i < 10; ++i) decide_and_send(i);
  EXPECT_FALSE(log.eviction().has_lost_some());
  EXPECT_FALSE(replaced_lacks_some());
  for (int i = 10; i < 1000; ++i) decide_and_send(i);
  EXPECT_TRUE(log.eviction().has_lost_some());
  EXPECT_TRUE(log.gaps().lack_messages());
  EXPECT_TRUE(replaced_lacks_some());
}

TEST_F(Decisions, AreLostOneByOneAndEachReplacementKnowsIt) {
  // Without messages beside them.
  for (int i = 0; i < 400; ++i) {
    note(log, DeterminantKind::waitany, {i});
    log.writer().write_determinants(job.journal(0));
    if (i % 20 != 19) continue;
    SCOPED_TRACE(i);
    job.kill(0);
    job.repair();
    MessageLog replacement;
    EXPECT_EQ(replacement.lacks_determinants_of_predecessor(job.journal(0)), log.eviction().has_lost_some());
    EXPECT_EQ(log.eviction().has_lost_some(), i > 60);
  }
  EXPECT_FALSE(log.gaps().lack_messages());
}

TEST_F(Decisions, ThatAreLostAreNotNeededByAReplacementThatBeginsBehindThem) {
  for (int i = 0; i < 500; ++i) decide_and_send(i);
  ASSERT_TRUE(log.eviction().has_lost_some());
  store_state(log);
  log.collector().note_stored(job.journal(0));
  // Messages are missing as before.
  EXPECT_FALSE(log.determinants().lacks_some());
  EXPECT_TRUE(log.gaps().lack_messages());
  decide_and_send(1000);
  MessageLog& next = replaced();
  EXPECT_FALSE(next.determinants().lacks_some());
  const auto states = job.journal(0).reader().messages_of(0, kState);
  ASSERT_EQ(states.size(), 1U);
  next.numbers().take(job.journal(0), 0, states.front());
  EXPECT_EQ(next.determinants().next(DeterminantKind::waitany, false), outcome({1000}));
  EXPECT_EQ(next.determinants().next(DeterminantKind::waitany, false), kFreeToChoose);
  for (int i = 0; i < 500; ++i) decide_and_send(i, next);
  EXPECT_TRUE(next.eviction().has_lost_some());
  EXPECT_TRUE(replaced_lacks_some());
}

// Files grow as long as the job runs: memory must not.
TEST_F(Decisions, ThatAreInFilesTakeOnePlaceForMany) {
  constexpr std::size_t kAll = 40;
  for (std::size_t i = 0; i < kAll; ++i) {
    note(log, DeterminantKind::waitany, {static_cast<int>(i)});
    log.writer().write_determinants(job.journal(0));
  }
  DeterminantLog& determinants = log.determinants();
  ASSERT_EQ(determinants.places(), kAll);
  determinants.note_spilled(20);
  EXPECT_EQ(determinants.places(), 21U);
  determinants.note_spilled(30);
  EXPECT_EQ(determinants.places(), 12U);
  EXPECT_EQ(determinants.release(job.journal(0), {25, 0}), 20U);
  EXPECT_EQ(determinants.places(), 11U);
  determinants.note_spilled(35);
  EXPECT_EQ(determinants.places(), 7U);
  EXPECT_TRUE(determinants.lose(job.journal(0), 30));
  EXPECT_TRUE(determinants.lacks_some());
  EXPECT_EQ(determinants.places(), 6U);
}

TEST_F(Decisions, ThatAreLargerThanTheJournalAreLost) {
  decide_and_send(1);
  note(log, DeterminantKind::testsome, std::vector<int>(kRoomOfDeterminants, 1));
  send(log);
  EXPECT_TRUE(log.eviction().has_lost_some());
  EXPECT_TRUE(replaced_lacks_some());
}

TEST_F(Decisions, ThatAreManyDoNotWaitForAMessage) {
  for (int i = 0; !log.determinants().has_many(); ++i) {
    ASSERT_LT(i, 10000);
    log.determinants().note_match(log.determinants().begin_receive(), {1, i});
  }
  log.writer().write_determinants(job.journal(0));
  EXPECT_FALSE(log.determinants().has_many());
}

TEST_F(Decisions, ThatAreLostAreForgottenWhenAllGoBack) {
  for (int i = 0; i < 500; ++i) decide_and_send(i);
  ASSERT_TRUE(log.eviction().has_lost_some());
  log.discard_all(job.journal(0));
  EXPECT_FALSE(log.eviction().has_lost_some());
  EXPECT_FALSE(replaced_lacks_some());
}

TEST_F(Decisions, BeforeAStoredStateAreLetGoOfAndTheOthersStay) {
  for (int i = 0; i < 300; ++i) {
    note(log, DeterminantKind::waitany, {i});
    log.determinants().note_match(log.determinants().begin_receive(), {1, i});
    store_state(log);
  }
  note(log, DeterminantKind::waitany, {1000});
  log.determinants().note_match(log.determinants().begin_receive(), {1, 1000});
  // Others can see what is stored on a persistent communicator.
  log.writer().write_determinants(job.journal(0));
  MessageLog& next = replaced();
  // It has not received its state yet.
  EXPECT_THROW((void)next.determinants().next(DeterminantKind::waitany, false), Error);
  const auto states = job.journal(0).reader().messages_of(0, kState);
  ASSERT_EQ(states.size(), 1U);
  next.numbers().take(job.journal(0), 0, states.front());
  EXPECT_EQ(next.determinants().next(DeterminantKind::waitany, false), outcome({1000}));
  EXPECT_EQ(next.determinants().match_of(next.determinants().begin_receive()), (DeterminantLog::Match{1, 1000}));
  EXPECT_EQ(next.determinants().next(DeterminantKind::waitany, false), kFreeToChoose);
}

TEST_F(Decisions, MessagesWithSeveralTagsComeInTheOrderOfTheirSendsAlsoWhenTheyWereMoved) {
  MessageLog receiver;
  for (int i = 0; i < 5; ++i) {
    send(log, kOtherTag);
    send(log);
  }
  // Others come and go until the log is somewhere else.
  for (unsigned value = 0; value < 300; ++value) {
    const auto data = journal_bytes(500, value);
    log.writer().append(job.journal(0), kState, 1, {data.size(), data});
  }
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? log : receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  for (int i = 0; i < 10; ++i) {
    const auto found = receiver.replay().find_unreceived(job.journal(1), 5, std::nullopt, std::nullopt);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first.tag, i % 2 == 0 ? 4 : 3);
    (void)receiver.replay().begin_receive(found->first);
  }
  EXPECT_FALSE(receiver.replay().find_unreceived(job.journal(1), 5, std::nullopt, std::nullopt));
}

TEST_F(Decisions, MessagesOfTheLibraryAreNoAnswerToAWildcard) {
  MessageLog receiver;
  send(log, {5, 1, kFirstInternalTag});
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? log : receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  EXPECT_FALSE(receiver.replay().find_unreceived(job.journal(1), 5, 0, std::nullopt));
  EXPECT_FALSE(receiver.replay().find_unreceived(job.journal(1), 6, 0, kFirstInternalTag));
  EXPECT_TRUE(receiver.replay().find_unreceived(job.journal(1), 5, 0, kFirstInternalTag));
}

TEST_F(Decisions, ACancelledReceiveGivesItsNumberBack) {
  const Flow from_other{5, 1, 3};
  EXPECT_EQ(log.replay().begin_receive(from_other).number, 1U);
  log.flows().take_back(from_other, false);
  EXPECT_EQ(log.replay().begin_receive(from_other).number, 1U);
}

}  // namespace
}  // namespace fenix_test
