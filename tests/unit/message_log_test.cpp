// SPDX-License-Identifier: BSD-3-Clause
// Logs of messages in journals that are short of room: they let go of messages, move others, and are taken back after deaths.
#include "messages/log/message_log.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "support/journal_job.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::size_t kLogBytes = 4096;  // of messages that fit
constexpr std::size_t kLoggedBytes = 100;
constexpr Signature kStateOfSender{7, 0, 0};
constexpr Signature kStateOfReceiver{7, 1, 0};
const Flow kToReceiver{5, 1, 3};
const Flow kFromSender{5, 0, 3};

class LogOfMessages : public ::testing::Test {
 protected:
  LogOfMessages() : job(2, 1, false, Ring::bytes_for(kLogBytes)) { job.attach(); }

  bool send(unsigned value) {
    const auto data = journal_bytes(kLoggedBytes, value);
    return sender.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}).has_value();
  }

  bool send_fast(unsigned value) {
    const auto data = journal_bytes(kLoggedBytes, value);
    const auto logged =
        sender.sender().log_fast(job.journal(0), sender.sender().allow_send(kToReceiver), {data.size(), data});
    return logged && std::equal(logged->begin(), logged->end(), data.begin(), data.end());
  }

  /// The receiver gets so many messages, and stores its state.
  void receive_and_store(int messages) {
    for (int i = 0; i < messages; ++i)
      receiver.flows().end_receive(kFromSender, receiver.replay().begin_receive(kFromSender).number);
    receiver.numbers().store(job.journal(1), kStateOfReceiver, 1);
    const auto state = journal_bytes(10, 0);
    receiver.writer().append(job.journal(1), kStateOfReceiver, 1, {state.size(), state});
  }

  JournalJob job;
  MessageLog sender;
  MessageLog receiver;
};

TEST_F(LogOfMessages, QuickMessagesHaveTheirPlacesAmongOthers) {
  EXPECT_FALSE(sender.sender().allow_send(kToReceiver).is_allowed) << "the first message makes the counter";
  ASSERT_TRUE(send(1));
  EXPECT_TRUE(send_fast(2));
  ASSERT_TRUE(send(3));
  EXPECT_TRUE(send_fast(4));
  const int outcome = 1;
  sender.determinants().note(DeterminantKind::test, {&outcome, 1});
  EXPECT_FALSE(send_fast(5)) << "the outcome comes first";
  ASSERT_TRUE(send(5));
  EXPECT_TRUE(send_fast(6));
  job.kill(1);
  job.repair();
  MessageLog replacement;
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? sender : replacement).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  for (unsigned number = 1; number <= 6; ++number) {
    const auto found = replacement.replay().logged(job.journal(1), kFromSender, number, /*anew=*/false);
    ASSERT_TRUE(found) << number;
    std::vector<std::byte> content(found->entry.head.bytes);
    EXPECT_TRUE(found->read(0, content));
    EXPECT_EQ(content, journal_bytes(kLoggedBytes, number));
  }
}

TEST_F(LogOfMessages, QuickMessagesFindNoPlaceInAFullLog) {
  ASSERT_TRUE(send(1));
  int full = 0;
  for (unsigned value = 2; value <= 200; ++value) {
    if (send_fast(value)) continue;
    ++full;
    ASSERT_TRUE(send(value));
  }
  EXPECT_GT(full, 0);
  const auto logged = job.journal(0).reader().messages_of(0);
  ASSERT_GT(logged.size(), 2U);
  for (std::size_t i = 0; i < logged.size(); ++i) EXPECT_EQ(logged[i].head.number, 201 - logged.size() + i);
}

TEST_F(LogOfMessages, NothingIsQuickThatIsSentOnceMore) {
  for (unsigned value = 1; value <= 3; ++value) ASSERT_TRUE(send(value));
  job.kill(0);
  job.repair();
  MessageLog replacement;
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? replacement : receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  for (unsigned value = 1; value <= 3; ++value) {
    const auto data = journal_bytes(kLoggedBytes, value);
    EXPECT_FALSE(replacement.sender().allow_send(kToReceiver).is_allowed);
    EXPECT_FALSE(replacement.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}));
  }
  EXPECT_TRUE(replacement.sender().allow_send(kToReceiver).is_allowed);
}

// A sender that waits for a receive sees what a receiver, or its predecessor, has taken from the log: not after all have gone back.
TEST_F(LogOfMessages, ASenderLearnsThatASynchronousMessageWasTaken) {
  const auto data = journal_bytes(kLoggedBytes, 1);
  for (const auto sending : {SenderLog::Sending::synchronous, SenderLog::Sending::usual}) {
    (void)sender.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}, sending);
  }
  EXPECT_EQ(sender.sender().latest_sent(kToReceiver), 2U);
  MessageLog first;
  MessageLog second;
  const auto repair = [&](MessageLog& replacement, bool goes_back) {
    job.kill(1);
    job.repair();
    job.run([&](int rank, Journal& journal) {
      (rank == 0 ? sender : replacement).reattach(job.team(rank), journal, goes_back);
    });
  };
  const auto take = [&](MessageLog& replacement, std::uint64_t number) {
    const auto found = replacement.replay().logged(job.journal(1), kFromSender, number, /*anew=*/false);
    ASSERT_TRUE(found);
    replacement.replay().note_taken(job.journal(1), kFromSender, found->entry.head);
  };
  repair(first, /*goes_back=*/false);
  EXPECT_FALSE(sender.sender().was_taken(job.journal(0), kToReceiver, 1));
  take(first, 2);
  EXPECT_FALSE(sender.sender().was_taken(job.journal(0), kToReceiver, 1))
      << "of the other one nobody waits for the receive";
  take(first, 1);
  EXPECT_TRUE(sender.sender().was_taken(job.journal(0), kToReceiver, 1));
  EXPECT_FALSE(sender.sender().was_taken(job.journal(0), kToReceiver, 2));
  repair(second, /*goes_back=*/false);
  EXPECT_TRUE(sender.sender().was_taken(job.journal(0), kToReceiver, 1));
  take(second, 1);
  EXPECT_TRUE(sender.sender().was_taken(job.journal(0), kToReceiver, 1));
  MessageLog third;
  repair(third, /*goes_back=*/true);
  EXPECT_FALSE(sender.sender().was_taken(job.journal(0), kToReceiver, 1));
}

TEST_F(LogOfMessages, LetsGoOfWhatItsReceiverNeedsNoMore) {
  for (unsigned value = 1; value <= 200; ++value) {
    ASSERT_TRUE(send(value));
    receive_and_store(1);
  }
}

TEST_F(LogOfMessages, ANewTagForEachMessageDoesNotFillItWhereStatesAreStored) {
  constexpr int kTags = 30;
  const auto data = journal_bytes(kLoggedBytes, 1);
  const auto state = journal_bytes(10, 9);
  for (int tag = 0; tag < kTags; ++tag) {
    EXPECT_TRUE(sender.sender().log_send(job.journal(0), {5, 1, tag}, {data.size(), data}));
    receiver.flows().end_receive({5, 0, tag}, receiver.replay().begin_receive({5, 0, tag}).number);
    receive_and_store(0);
    sender.numbers().store(job.journal(0), kStateOfSender, 1);
    sender.writer().append(job.journal(0), kStateOfSender, 1, {state.size(), state});
  }
  EXPECT_FALSE(sender.gaps().lack_messages());
}

TEST_F(LogOfMessages, ItsOwnerStoresAlsoWhenItIsTakenBackWithMessagesThatItHadLetGoOf) {
  // It stays at the front: what was let go of behind it is still in the ring after a death.
  const auto state = journal_bytes(10, 9);
  job.journal(0).writer().append(kStateOfSender, 1, {state.size(), state});
  for (unsigned value = 1; value <= 60; ++value) {
    ASSERT_TRUE(send(value));
    receive_and_store(1);
  }
  job.kill(0);
  job.repair();
  MessageLog replacement;
  const auto large = journal_bytes(kLogBytes / 2, 1);
  const Signature other{8, 0, 0};
  // Without a look at the receivers there is no room.
  EXPECT_THROW(job.journal(0).writer().append(other, 1, {large.size(), large}), Error);
  EXPECT_NO_THROW(replacement.writer().append(job.journal(0), other, 1, {large.size(), large}));
}

TEST_F(LogOfMessages, MessagesThatWereLetGoOfAreNotSentAgain) {
  // The receiver has stored a state behind the first four, and the sender one behind the first two.
  for (unsigned value = 1; value <= 5; ++value) ASSERT_TRUE(send(value));
  job.journal(0).ring().release_until({kToReceiver.comm_id ^ 0x6C6F67676564U, kToReceiver.peer, kToReceiver.tag}, 4);
  // This tells the copy as well.
  ASSERT_TRUE(send(6));
  ASSERT_EQ(job.journal(0).reader().messages_of(0).size(), 2U);
  job.kill(0);
  MessageLog of_sender;
  MessageLog of_receiver;
  job.repair();
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? of_sender : of_receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  const FlowNumber two_sent{{kToReceiver.comm_id ^ 0x6C6F67676564U, kToReceiver.peer, kToReceiver.tag}, 1, 2};
  of_sender.numbers().set_numbers_of(kToReceiver.comm_id, std::span(&two_sent, 1));
  for (unsigned value = 3; value <= 7; ++value) {
    const auto data = journal_bytes(kLoggedBytes, value);
    EXPECT_EQ(of_sender.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}).has_value(), value == 7);
  }
  // A receiver that has lost its state cannot have them.
  EXPECT_THROW((void)of_receiver.replay().logged(job.journal(1), kFromSender, 1, false), Error);
}

TEST_F(LogOfMessages, AMessageThatIsSentOnceMoreHasToBeTheSame) {
  for (unsigned value = 1; value <= 4; ++value) ASSERT_TRUE(send(value));
  job.kill(0);
  job.repair();
  MessageLog replacement;
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? replacement : receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  const auto send_again = [&](std::size_t bytes, unsigned value) -> std::string {
    const auto data = journal_bytes(bytes, value);
    const Payload packed{bytes, {}, [&](std::span<std::byte> to) { std::copy(data.begin(), data.end(), to.begin()); }};
    try {
      EXPECT_FALSE(replacement.sender().log_send(job.journal(0), kToReceiver, packed));
    } catch (const AnotherHistory& error) {
      return error.what();
    }
    return "";
  };
  const auto says_other_ones = [&](int number) {
    const std::string text =
        "message " + std::to_string(number) + " to rank 1 with tag 3 had 100 bytes, and now has 100 other ones";
    return send_again(kLoggedBytes, 9).find(text) != std::string::npos;
  };
  EXPECT_EQ(send_again(kLoggedBytes, 1), "");
  // It may have a time, or a process number.
  EXPECT_EQ(send_again(kLoggedBytes, 9), "");
  EXPECT_NE(send_again(8, 3).find("had 100 bytes, and now has 8;"), std::string::npos);
  EXPECT_EQ(send_again(kLoggedBytes, 3), "");
  replacement.sender().compare_repeated(SenderLog::Comparing::strict);
  EXPECT_TRUE(says_other_ones(4));
  replacement.sender().compare_repeated(SenderLog::Comparing::off);
  EXPECT_EQ(send_again(8, 4), "");
}

// The note of where the files are may move entries in the full ring.
TEST_F(LogOfMessages, NothingIsLostBetweenItsMemoryAndItsFiles) {
  constexpr std::uint64_t kMessages = 3000;
  std::string folder = (std::filesystem::temp_directory_path() / "fenix-log-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto content_of = [](std::uint64_t number) {
    return journal_bytes(1 + number * 7919 % 700, static_cast<unsigned>(number));
  };
  const auto state = journal_bytes(300, 9);
  {
    sender.files().begin({folder}, 0);
    sender.eviction().note_place(job.journal(0));
    for (std::uint64_t number = 1; number <= kMessages; ++number) {
      if (number % 59 == 0) {
        sender.writer().append(job.journal(0), {9, 0, static_cast<std::int32_t>(number % 7)}, 1, {state.size(), state});
      }
      const auto data = content_of(number);
      ASSERT_TRUE(sender.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}));
    }
    ASSERT_FALSE(sender.gaps().lack_messages());
    job.kill(1);
    job.repair();
    MessageLog replacement;
    replacement.files().begin({folder}, 1);
    job.run([&](int rank, Journal& journal) {
      EXPECT_TRUE((rank == 0 ? sender : replacement).reattach(job.team(rank), journal, /*goes_back=*/false));
    });
    std::uint64_t good = 0;
    for (std::uint64_t number = 1; number <= kMessages; ++number) {
      const auto wanted = content_of(number);
      const auto found = replacement.replay().logged(job.journal(1), kFromSender, number, /*anew=*/false);
      ASSERT_TRUE(found) << number;
      std::vector<std::byte> content(found->entry.head.bytes);
      if (found->read(0, content) && content == wanted) ++good;
    }
    EXPECT_EQ(good, kMessages);
    sender.clear();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST_F(LogOfMessages, ProtectionThatIsLostComesBackWhenAStateHasBeenStored) {
  for (unsigned value = 1; value <= 200; ++value) ASSERT_TRUE(send(value));
  EXPECT_TRUE(sender.gaps().lack_messages());
  // A state is stored where the log has no room either.
  const auto state = journal_bytes(500, 9);
  const auto store = [&] {
    sender.writer().append(job.journal(0), kStateOfSender, 1, {state.size(), state});
    sender.collector().note_stored(job.journal(0));
  };
  EXPECT_NO_THROW(store());
  EXPECT_TRUE(sender.gaps().lack_messages());
  receive_and_store(200);
  while (sender.gaps().lack_messages()) store();
}

TEST_F(LogOfMessages, AMessageThatItsSenderHasMovedIsFoundAnew) {
  for (unsigned value = 1; value <= 3; ++value) ASSERT_TRUE(send(value));
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? sender : receiver).reattach(job.team(rank), journal, /*goes_back=*/false);
  });
  const auto before = receiver.replay().logged(job.journal(1), kFromSender, 1, false);
  ASSERT_TRUE(before);
  // Others come and go until the log is somewhere else, and its old place is overwritten.
  for (unsigned value = 0; value < 300; ++value) {
    const auto data = journal_bytes(500, value);
    sender.writer().append(job.journal(0), kStateOfSender, 1, {data.size(), data});
  }
  std::vector<std::byte> bytes(kLoggedBytes);
  const auto stale = receiver.replay().logged(job.journal(1), kFromSender, 2, false);
  ASSERT_TRUE(stale);
  EXPECT_FALSE(job.journal(1).reader().read(0, stale->entry, bytes));
  const auto fresh = receiver.replay().logged(job.journal(1), kFromSender, 2, true);
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(job.journal(1).reader().read(0, fresh->entry, bytes));
  EXPECT_EQ(bytes, journal_bytes(kLoggedBytes, 2));
}

// The log of the dead rank is lost: its successor logs its messages once more, and sends those that its receivers do not have.
TEST(LostLogOfMessages, IsMadeAnewAndWhatWasReceivedIsNotSentAgain) {
  for (const bool goes_back : {false, true}) {
    SCOPED_TRACE(goes_back);
    JournalJob job(2, 0, false, Ring::bytes_for(kLogBytes));
    job.attach();
    MessageLog sender;
    MessageLog receiver;
    const auto data = journal_bytes(kLoggedBytes, 1);
    const auto send = [&](MessageLog& log) {
      return log.sender().log_send(job.journal(0), kToReceiver, {data.size(), data}).has_value();
    };
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(send(sender));
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t number = receiver.replay().begin_receive(kFromSender).number;
      // Its message has not come yet.
      if (number != 3) receiver.flows().end_receive(kFromSender, number);
    }
    job.kill(0);
    job.repair();
    MessageLog successor;
    job.run([&](int rank, Journal& journal) {
      (rank == 0 ? successor : receiver).reattach(job.team(rank), journal, goes_back);
    });
    for (const bool is_received : {true, true, false, true, false})
      EXPECT_EQ(send(successor), goes_back || !is_received);
    EXPECT_EQ(job.journal(1).reader().messages_of(0).size(), 5U);
  }
}

/// Messages are in journals without copies. Other ranks hold what ranks do not send again.
class LogWithoutCopies : public ::testing::Test {
 protected:
  LogWithoutCopies()
      : held(2, 1, false, Ring::bytes_for(kLogBytes)), messages(2, 0, false, Ring::bytes_for(kLogBytes)) {
    held.attach();
    messages.attach();
  }

  LogJournals journals(int rank) { return {held.journal(rank), messages.journal(rank)}; }
  static std::vector<std::byte> content(unsigned value) { return journal_bytes(kLoggedBytes, value); }
  bool send(MessageLog& log, unsigned value) {
    const auto data = content(value);
    return log.sender().log_send(journals(0), kToReceiver, {data.size(), data}).has_value();
  }
  static void receive(MessageLog& log) {
    log.flows().end_receive(kFromSender, log.replay().begin_receive(kFromSender).number);
  }
  void meet() {
    held.run([&](int rank, Journal&) {
      (rank == 0 ? sender : receiver).meet_at_checkpoint(held.team(rank), journals(rank));
    });
  }
  void kill(int rank) {
    held.kill(rank);
    messages.kill(rank);
    (rank == 0 ? sender : receiver).clear();
  }
  void repair() {
    held.repair();
    messages.repair();
    held.run([&](int rank, Journal&) {
      (rank == 0 ? sender : receiver).reattach(held.team(rank), journals(rank), /*goes_back=*/false);
    });
  }
  /// Expects that the receiver gets a message from the log.
  void expect_logged(std::uint64_t number) {
    const auto found = receiver.replay().logged(journals(1), kFromSender, number, false);
    ASSERT_TRUE(found) << number;
    std::vector<std::byte> bytes(kLoggedBytes);
    EXPECT_TRUE(found->journal->reader().read(0, found->entry, bytes));
    EXPECT_EQ(bytes, content(static_cast<unsigned>(number)));
  }

  JournalJob held;
  JournalJob messages;
  MessageLog sender;
  MessageLog receiver;
};

TEST_F(LogWithoutCopies, GivesMessagesToTheSuccessorOfTheirReceiver) {
  for (unsigned value = 1; value <= 3; ++value) EXPECT_TRUE(send(sender, value));
  EXPECT_TRUE(held.journal(0).reader().messages_of(0).empty());
  kill(1);
  repair();
  for (std::uint64_t number = 1; number <= 3; ++number) expect_logged(number);
  EXPECT_FALSE(receiver.replay().logged(journals(1), kFromSender, 4, false));
}

TEST_F(LogWithoutCopies, HasLateMessagesAtACheckpoint) {
  for (unsigned value = 1; value <= 5; ++value) EXPECT_TRUE(send(sender, value));
  for (int i = 0; i < 3; ++i) receive(receiver);
  meet();
  const auto late = sender.sender().late_messages(journals(0), kToReceiver.comm_id);
  ASSERT_EQ(late.size(), 2U);
  const auto numbers = sender.numbers().numbers_of(journals(0), kToReceiver.comm_id);
  // It has sent them itself.
  EXPECT_FALSE(sender.sender().log_late(journals(0), late[0]));
  EXPECT_TRUE(send(sender, 6));
  receive(receiver);
  kill(0);
  repair();
  // Its successor goes on with the state that was stored. The receiver has got the fourth message meanwhile.
  sender.numbers().set_numbers_of(kToReceiver.comm_id, numbers);
  EXPECT_FALSE(sender.sender().log_late(journals(0), late[0]));
  EXPECT_TRUE(sender.sender().log_late(journals(0), late[1]));
  EXPECT_TRUE(send(sender, 6));
  EXPECT_FALSE(receiver.replay().logged(journals(1), kFromSender, 4, false));
  kill(1);
  repair();
  for (const std::uint64_t number : {4U, 5U, 6U}) expect_logged(number);
  // It was received before the checkpoint.
  EXPECT_THROW((void)receiver.replay().logged(journals(1), kFromSender, 3, false), Error);
}

TEST_F(LogWithoutCopies, MessagesOfOpenReceivesAreLate) {
  for (unsigned value = 1; value <= 2; ++value) EXPECT_TRUE(send(sender, value));
  (void)receiver.replay().begin_receive(kFromSender);
  receive(receiver);
  meet();
  const auto late = sender.sender().late_messages(journals(0), kToReceiver.comm_id);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].number, 1U);
  EXPECT_EQ(late[0].content, content(1));
  // Late messages stay in the log.
  sender.collector().release_until(journals(0), sender.numbers().numbers_of(journals(0), kToReceiver.comm_id),
                                   /*only_received=*/true);
  EXPECT_EQ(messages.journal(0).reader().messages_of(0).size(), 2U);
}

TEST_F(LogWithoutCopies, WithoutAMeetingAllMessagesAreLate) {
  for (unsigned value = 1; value <= 3; ++value) EXPECT_TRUE(send(sender, value));
  for (int i = 0; i < 3; ++i) receive(receiver);
  EXPECT_EQ(sender.sender().late_messages(journals(0), kToReceiver.comm_id).size(), 3U);
  meet();
  EXPECT_EQ(sender.sender().late_messages(journals(0), kToReceiver.comm_id).size(), 0U);
}

TEST_F(LogWithoutCopies, OlderMessagesMakeRoomForNewerOnes) {
  constexpr unsigned kMany = 200;
  for (unsigned value = 1; value <= 10; ++value) EXPECT_TRUE(send(sender, value));
  EXPECT_FALSE(sender.gaps().lack_messages());
  for (unsigned value = 11; value <= kMany; ++value) {
    EXPECT_TRUE(send(sender, value));
    receive(receiver);
  }
  EXPECT_TRUE(sender.gaps().lack_messages());
  // The receiver has not got the last ten: they are there.
  meet();
  EXPECT_EQ(sender.sender().late_messages(journals(0), kToReceiver.comm_id).size(), 10U);
  EXPECT_TRUE(sender.gaps().lack_messages());
  sender.gaps().note_checkpoint(/*is_on_all=*/false);
  EXPECT_TRUE(sender.gaps().lack_messages());
  meet();
  EXPECT_FALSE(sender.gaps().lack_messages());
}

TEST_F(LogWithoutCopies, ANewTagForEachMessageDoesNotFillIt) {
  for (int tag = 0; tag < 500; ++tag) {
    const auto data = content(1);
    EXPECT_TRUE(sender.sender().log_send(journals(0), {5, 1, tag}, {data.size(), data}));
    receiver.flows().end_receive({5, 0, tag}, receiver.replay().begin_receive({5, 0, tag}).number);
    if (tag % 10 != 9) continue;
    meet();
    sender.collector().release_until(journals(0), sender.numbers().numbers_of(journals(0), 5), /*only_received=*/true);
    EXPECT_TRUE(messages.journal(0).reader().messages_of(0).empty());
  }
  EXPECT_FALSE(sender.gaps().lack_messages());
}

TEST_F(LogWithoutCopies, AStateIsNotStoredWithoutAMessageThatIsNeeded) {
  for (unsigned value = 1; value <= 200; ++value) EXPECT_TRUE(send(sender, value));
  for (int i = 0; i < 20; ++i) receive(receiver);
  meet();
  EXPECT_THROW((void)sender.sender().late_messages(journals(0), kToReceiver.comm_id), Error);
}

TEST_F(LogWithoutCopies, WhatIsSentDuringACheckpointMayBeMissingAfterIt) {
  meet();
  for (unsigned value = 1; value <= 200; ++value) EXPECT_TRUE(send(sender, value));
  sender.gaps().note_checkpoint(/*is_on_all=*/true);
  EXPECT_TRUE(sender.gaps().lack_messages());
}

TEST_F(LogWithoutCopies, AMessageThatIsLargerThanTheLogIsSent) {
  const auto data = journal_bytes(4 * kLogBytes, 1);
  ASSERT_TRUE(send(sender, 1));
  const auto content = sender.sender().log_send(journals(0), kToReceiver, {data.size(), data});
  ASSERT_TRUE(content);
  EXPECT_EQ(std::vector(content->begin(), content->end()), data);
  EXPECT_TRUE(sender.gaps().lack_messages());
}

TEST_F(LogWithoutCopies, AllIsForgottenWhenAllGoBack) {
  for (unsigned value = 1; value <= 3; ++value) EXPECT_TRUE(send(sender, value));
  sender.determinants().note(DeterminantKind::waitany, std::vector<int>{1});
  sender.writer().write_determinants(journals(0));
  kill(0);
  held.repair();
  messages.repair();
  held.run([&](int rank, Journal&) {
    MessageLog& log = rank == 0 ? sender : receiver;
    log.discard_all(journals(rank));
    log.reattach(held.team(rank), journals(rank), /*goes_back=*/true);
  });
  // It decides freely, and sends all.
  EXPECT_FALSE(sender.determinants().next(DeterminantKind::testany, true));
  EXPECT_TRUE(send(sender, 1));
  EXPECT_FALSE(receiver.replay().logged(journals(1), kFromSender, 1, false));
  sender.determinants().note(DeterminantKind::waitany, std::vector<int>{2});
  sender.writer().write_determinants(journals(0));
  // The old decision does not come back with the next death.
  kill(0);
  repair();
  const auto forced = sender.determinants().next(DeterminantKind::waitany, true);
  ASSERT_TRUE(forced);
  EXPECT_EQ(*forced, std::vector<int>{2});
}

TEST_F(LogWithoutCopies, WhatWasReceivedBeforeADeathDoesNotCountAfterIt) {
  for (unsigned value = 1; value <= 2; ++value) EXPECT_TRUE(send(sender, value));
  for (int i = 0; i < 2; ++i) receive(receiver);
  meet();
  kill(1);
  repair();
  EXPECT_EQ(sender.sender().late_messages(journals(0), kToReceiver.comm_id).size(), 2U);
}

/// Passes on to another team, and counts the bytes that come to this rank.
class CountingTeam final : public Team {
 public:
  explicit CountingTeam(Team& inner) : inner_(inner) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  void check() override { inner_.check(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    bytes += all.size();
    inner_.allgather(mine, all);
  }
  void broadcast(std::span<std::byte> data, int root) override {
    bytes += data.size();
    inner_.broadcast(data, root);
  }
  Words deliver(const Words& words) override {
    Words told = inner_.deliver(words);
    for (const auto& [from, content] : told) bytes += content.size();
    return told;
  }
  void withdraw() noexcept override { inner_.withdraw(); }
  void dissolve() noexcept override { inner_.dissolve(); }

  std::size_t bytes = 0;

 private:
  Team& inner_;
};

/// Returns the bytes that come to a rank in a repair, where each rank has sent messages to each other one.
std::size_t bytes_of_repair(int ranks) {
  constexpr int kTags = 20;
  JournalJob job(ranks, 1, false);
  job.attach();
  std::size_t most = 0;
  std::mutex mutex;
  job.run([&](int rank, Journal& journal) {
    MessageLog log;
    const auto data = journal_bytes(8, 1);
    for (int peer = 0; peer < ranks; ++peer) {
      for (int tag = 0; tag < kTags && peer != rank; ++tag) {
        (void)log.sender().log_send(journal, {5, peer, tag}, {data.size(), data});
        log.flows().end_receive({5, peer, tag}, log.replay().begin_receive({5, peer, tag}).number);
      }
    }
    CountingTeam team(job.team(rank));
    EXPECT_TRUE(log.reattach(team, journal, /*goes_back=*/false));
    log.meet_at_checkpoint(team, journal);
    const std::lock_guard lock(mutex);
    most = std::max(most, team.bytes);
  });
  return most;
}

TEST(Repair, TellsARankOnlyOfItsOwnMessages) {
  const std::size_t of_four = bytes_of_repair(4);
  // With all flows of all ranks it would be more than four times as much.
  EXPECT_LT(bytes_of_repair(8), 3 * of_four);
  EXPECT_GT(of_four, 0U);
}

}  // namespace
}  // namespace fenix_test
