// SPDX-License-Identifier: BSD-3-Clause
// Logs of messages in journals that are short of room: they let go of messages, move others, and are taken back after deaths.
#include "recovery/message_log.hpp"

#include <gtest/gtest.h>

#include "support/journal_job.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::size_t kLogBytes = 4096;  // of messages that fit
constexpr std::size_t kLoggedBytes = 100;
constexpr Signature kStateOfSender{7, 0, 0};
constexpr Signature kStateOfReceiver{7, 1, 0};
const MessageLog::Flow kToReceiver{5, 1, 3};
const MessageLog::Flow kFromSender{5, 0, 3};

class LogOfMessages : public ::testing::Test {
 protected:
  LogOfMessages() : job(2, 1, false, Ring::bytes_for(kLogBytes)) { job.attach(); }

  bool send(unsigned value) {
    const auto data = journal_bytes(kLoggedBytes, value);
    return sender.log_send(job.journal(0), kToReceiver, {data.size(), data});
  }

  /// The receiver gets so many messages, and stores its state.
  void receive_and_store(int messages) {
    for (int i = 0; i < messages; ++i) receiver.end_receive(kFromSender, receiver.begin_receive(kFromSender));
    receiver.store_numbers(job.journal(1), kStateOfReceiver, 1);
    const auto state = journal_bytes(10, 0);
    receiver.append(job.journal(1), kStateOfReceiver, 1, {state.size(), state});
  }

  JournalJob job;
  MessageLog sender;
  MessageLog receiver;
};

TEST_F(LogOfMessages, LetsGoOfWhatItsReceiverNeedsNoMore) {
  for (unsigned value = 1; value <= 200; ++value) {
    ASSERT_TRUE(send(value));
    receive_and_store(1);
  }
}

TEST_F(LogOfMessages, ItsOwnerStoresAlsoWhenItIsTakenBackWithMessagesThatItHadLetGoOf) {
  // It stays at the front: what was let go of behind it is still in the ring after a death.
  const auto state = journal_bytes(10, 9);
  job.journal(0).append(kStateOfSender, 1, {state.size(), state});
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
  EXPECT_THROW(job.journal(0).append(other, 1, {large.size(), large}), Error);
  EXPECT_NO_THROW(replacement.append(job.journal(0), other, 1, {large.size(), large}));
}

TEST_F(LogOfMessages, AMessageThatItsSenderHasMovedIsFoundAnew) {
  for (unsigned value = 1; value <= 3; ++value) ASSERT_TRUE(send(value));
  job.run([&](int rank, Journal& journal) {
    (rank == 0 ? sender : receiver).take_up(job.team(rank), journal, /*goes_back=*/false);
  });
  const auto before = receiver.logged(job.journal(1), kFromSender, 1, false);
  ASSERT_TRUE(before);
  // Others come and go until the log is somewhere else, and its old place is overwritten.
  for (unsigned value = 0; value < 300; ++value) {
    const auto data = journal_bytes(500, value);
    sender.append(job.journal(0), kStateOfSender, 1, {data.size(), data});
  }
  std::vector<std::byte> bytes(kLoggedBytes);
  const auto stale = receiver.logged(job.journal(1), kFromSender, 2, false);
  ASSERT_TRUE(stale);
  EXPECT_FALSE(job.journal(1).read(0, *stale, bytes));
  const auto fresh = receiver.logged(job.journal(1), kFromSender, 2, true);
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(job.journal(1).read(0, *fresh, bytes));
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
    const auto send = [&](MessageLog& log) { return log.log_send(job.journal(0), kToReceiver, {data.size(), data}); };
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(send(sender));
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t number = receiver.begin_receive(kFromSender);
      // Its message has not come yet.
      if (number != 3) receiver.end_receive(kFromSender, number);
    }
    job.kill(0);
    job.repair();
    MessageLog successor;
    job.run([&](int rank, Journal& journal) {
      (rank == 0 ? successor : receiver).take_up(job.team(rank), journal, goes_back);
    });
    for (const bool is_received : {true, true, false, true, false})
      EXPECT_EQ(send(successor), goes_back || !is_received);
    EXPECT_EQ(job.journal(1).messages_of(0).size(), 5U);
  }
}

}  // namespace
}  // namespace fenix_test
