// SPDX-License-Identifier: BSD-3-Clause
// Journals of ranks that are threads and die at every step: after a repair, each slot has what it had stored, or the message that was
// under way; never a mixture.
#include "messages/journal/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "support/journal_job.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr Signature kToSelf{11, 0, 1};
constexpr Signature kToOther{11, 1, 2};

void append(Journal& journal, const Signature& signature, std::size_t bytes, unsigned value, std::uint32_t depth = 1) {
  const auto data = journal_bytes(bytes, value);
  journal.writer().append(signature, depth, {data.size(), data});
}

/// Returns the value of the newest message of a signature, by its first byte; none if there is none. Its bytes have to be right.
std::optional<unsigned> newest(const Journal& journal, int slot, const Signature& signature, unsigned most) {
  std::optional<Entry> found;
  for (const Entry& each : journal.reader().messages_of(slot)) {
    if (each.head.signature == signature) found = each;
  }
  if (!found) return std::nullopt;
  std::vector<std::byte> data(found->head.bytes);
  EXPECT_TRUE(journal.reader().read(slot, *found, data)) << "a message cannot be read";
  for (unsigned value = 0; value <= most; ++value) {
    if (data == journal_bytes(data.size(), value)) return value;
  }
  ADD_FAILURE() << "a mixture";
  return std::nullopt;
}

class JournalOfRanks : public ::testing::TestWithParam<std::tuple<int, int, bool>> {
 protected:
  [[nodiscard]] static int job_size() { return std::get<0>(GetParam()); }
  [[nodiscard]] JournalJob make_job() const {
    return {std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam())};
  }
};

TEST_P(JournalOfRanks, MessagesOutliveTheirOwner) {
  JournalJob job = make_job();
  job.attach();
  job.run([](int rank, Journal& journal) {
    append(journal, kToSelf, 100, static_cast<unsigned>(rank));
    append(journal, kToOther, 5000, static_cast<unsigned>(rank) + 10);
    append(journal, kToSelf, 70, static_cast<unsigned>(rank) + 20);
  });
  const int most = std::min(std::get<1>(GetParam()), job.size() - 1);
  for (int lost = 1; lost <= most; ++lost) {
    for (int first = 0; first < job.size(); ++first) {
      for (int i = 0; i < lost; ++i) job.kill((first + i) % job.size());
      job.repair();
      for (int reader = 0; reader < job.size(); ++reader) {
        for (int rank = 0; rank < job.size(); ++rank) {
          EXPECT_EQ(newest(job.journal(reader), rank, kToSelf, 40), static_cast<unsigned>(rank) + 20);
          EXPECT_EQ(newest(job.journal(reader), rank, kToOther, 40), static_cast<unsigned>(rank) + 10);
        }
        EXPECT_FALSE(job.journal(reader).recovery().has_lost_messages());
      }
    }
  }
}

TEST_P(JournalOfRanks, ADeathAtAnyStepLeavesTheOldOrTheNewMessage) {
  constexpr unsigned kLast = 6;
  for (int steps = 0;; ++steps) {
    JournalJob job = make_job();
    job.attach();
    const int victim = steps % job.size();
    job.doom(victim, steps / job.size());
    std::atomic<unsigned> done{0};
    const auto ends = job.run([&](int rank, Journal& journal) {
      if (rank != victim) return;
      for (unsigned value = 1; value <= kLast; ++value) {
        append(journal, kToSelf, 700 + 100 * value, value);
        append(journal, kToOther, 64 * value, value);
        done = value;
      }
    });
    const bool died = ends[static_cast<std::size_t>(victim)] == JobEnd::died;
    job.repair();
    for (int reader = 0; reader < job.size(); ++reader) {
      for (const Signature& signature : {kToSelf, kToOther}) {
        const unsigned found = newest(job.journal(reader), victim, signature, kLast).value_or(0);
        EXPECT_GE(found, done) << "step " << steps;
        EXPECT_LE(found, done + 1) << "step " << steps;
      }
    }
    // It goes on from there.
    job.run([&](int rank, Journal& journal) {
      if (rank == victim) append(journal, kToSelf, 333, 50);
    });
    job.kill(victim);
    job.repair();
    EXPECT_EQ(newest(job.journal(0), victim, kToSelf, 60), 50U);
    if (!died) return;
  }
}

TEST_P(JournalOfRanks, AHolderThatDiesTakesNothingAlong) {
  for (int steps = 0; steps < 400; ++steps) {
    JournalJob job = make_job();
    job.attach();
    const int holder = 1;
    job.set_unlucky(1U);
    job.doom(holder, steps / 8);
    std::atomic<unsigned> done{0};
    job.run([&](int rank, Journal& journal) {
      for (unsigned value = 1; value <= 4; ++value) {
        append(journal, kToSelf, 900, value);
        if (rank == 0) done = value;
      }
    });
    if (!job.is_dead(holder)) job.kill(holder);
    job.repair();
    EXPECT_EQ(newest(job.journal(0), 0, kToSelf, 4).value_or(0), done);
    // The new holder has the copy.
    job.kill(0);
    job.repair();
    EXPECT_EQ(newest(job.journal(1), 0, kToSelf, 4).value_or(0), done);
  }
}

TEST_P(JournalOfRanks, FurtherDeathsInTheRepairAreFurtherFailures) {
  const int copies = std::min(std::get<1>(GetParam()), job_size() - 1);
  for (int steps = 0;; ++steps) {
    JournalJob job = make_job();
    job.attach();
    job.run([](int rank, Journal& journal) {
      append(journal, kToSelf, 3000, static_cast<unsigned>(rank) + 1);
      append(journal, kToOther, 3000, static_cast<unsigned>(rank) + 2, 3);
      append(journal, kToOther, 30, static_cast<unsigned>(rank) + 3, 3);
    });
    job.kill(0);
    job.replace();
    // The new process dies again, which costs nothing; with two copies any other one may die.
    const int second = copies > 1 ? steps % job.size() : 0;
    job.doom(second, steps / (copies > 1 ? job.size() : 1));
    job.attach();
    const bool died = job.is_dead(second);
    job.repair();
    for (int reader = 0; reader < job.size(); ++reader) {
      for (int rank = 0; rank < job.size(); ++rank) {
        EXPECT_EQ(newest(job.journal(reader), rank, kToSelf, 20), static_cast<unsigned>(rank) + 1) << "step " << steps;
        EXPECT_EQ(newest(job.journal(reader), rank, kToOther, 20), static_cast<unsigned>(rank) + 3) << "step " << steps;
      }
    }
    if (!died) return;
  }
}

TEST_P(JournalOfRanks, OthersCanReadWhileMessagesAreReplaced) {
  constexpr unsigned kReads = 100;
  constexpr unsigned kMost = 1000000;
  JournalJob job = make_job();
  job.attach();
  std::atomic<bool> ended{false};
  std::atomic<unsigned> read{0};
  unsigned last = 0;
  job.run([&](int rank, Journal& journal) {
    if (rank == 0) {
      while (read < kReads && last < kMost) append(journal, kToOther, 900, ++last % 8);
      ended = true;
      return;
    }
    while (!ended) {
      const auto messages = journal.reader().messages_of(0);
      if (messages.empty()) continue;
      std::vector<std::byte> data(messages.back().head.bytes);
      if (!journal.reader().read(0, messages.back(), data)) continue;
      const auto first = std::to_integer<unsigned>(data.front());
      const auto value = [&] {
        for (unsigned each = 0; each < 8; ++each) {
          if (journal_bytes(1, each).front() == static_cast<std::byte>(first)) return each;
        }
        return 8U;
      }();
      EXPECT_EQ(data, journal_bytes(900, value));
      ++read;
    }
  });
  EXPECT_EQ(newest(job.journal(1), 0, kToOther, 8), last % 8);
  EXPECT_GE(read, kReads);
}

TEST_P(JournalOfRanks, ADamagedMessageIsReadFromItsCopy) {
  JournalJob job = make_job();
  job.attach();
  job.run([](int rank, Journal& journal) { append(journal, kToSelf, 1000, static_cast<unsigned>(rank)); });
  const Entry entry = job.journal(0).reader().messages_of(0).back();
  job.journal(0).own_ring_for_tests()[entry.payload() + 500] ^= std::byte{4};
  std::vector<std::byte> data(1000);
  EXPECT_TRUE(job.journal(0).reader().read(0, entry, data));
  EXPECT_EQ(data, journal_bytes(1000, 0));
  EXPECT_TRUE(job.journal(1).reader().read(0, entry, data));
  EXPECT_EQ(data, journal_bytes(1000, 0));
}

INSTANTIATE_TEST_SUITE_P(Sizes, JournalOfRanks,
                         ::testing::Values(std::tuple(2, 1, false), std::tuple(3, 1, true), std::tuple(4, 2, false),
                                           std::tuple(3, 3, true)));

TEST(Journal, LossesBeyondTheCopiesAreKnown) {
  JournalJob job(3, 1, false);
  job.attach();
  job.run([](int rank, Journal& journal) { append(journal, kToSelf, 10, static_cast<unsigned>(rank)); });
  job.kill(0);
  job.kill(1);
  job.repair();
  EXPECT_TRUE(job.journal(0).recovery().has_lost_messages());
  EXPECT_FALSE(job.journal(1).recovery().has_lost_messages());
  EXPECT_EQ(newest(job.journal(2), 0, kToSelf, 5), std::nullopt);
  EXPECT_EQ(newest(job.journal(2), 1, kToSelf, 5), 1U);
}

TEST(Journal, HoldersAreOthersAndDiffer) {
  for (int ranks = 1; ranks < 9; ++ranks) {
    for (int separation = 1; separation < 12; ++separation) {
      std::vector<std::vector<int>> held(3, std::vector<int>(static_cast<std::size_t>(ranks), 0));
      for (int rank = 0; rank < ranks; ++rank) {
        const auto holders = holders_of(rank, ranks, {0, 3, separation});
        EXPECT_EQ(holders.size(), static_cast<std::size_t>(std::min(3, ranks - 1)));
        for (std::size_t copy = 0; copy < holders.size(); ++copy) {
          EXPECT_NE(holders[copy], rank);
          EXPECT_EQ(std::count(holders.begin(), holders.end(), holders[copy]), 1);
          ++held[copy][static_cast<std::size_t>(holders[copy])];
        }
      }
      // Each rank holds one ring for each number of a copy.
      for (std::size_t copy = 0; copy < 3; ++copy) {
        for (const int times : held[copy]) EXPECT_EQ(times, static_cast<int>(copy) < ranks - 1 ? 1 : 0);
      }
    }
  }
}

TEST(JournalThatIsNeeded, IsMissedWhenItIsLost) {
  JournalJob job(5, 1, false);
  job.attach();
  for (int rank : {0, 2}) job.journal(rank).recovery().note_needed();
  // Of three that die, one is needed, and the second one has its copy; the third one is needed, and its copy is left.
  for (const int rank : {0, 1, 2}) job.kill(rank);
  job.repair();
  EXPECT_TRUE(job.journal(0).recovery().has_lost_messages());
  EXPECT_TRUE(job.journal(0).recovery().is_needed());
  EXPECT_TRUE(job.journal(1).recovery().has_lost_messages());
  EXPECT_FALSE(job.journal(1).recovery().is_needed());
  EXPECT_FALSE(job.journal(2).recovery().has_lost_messages());
  EXPECT_TRUE(job.journal(2).recovery().is_needed());
  // The witnesses that have died know it again.
  job.journal(0).recovery().forget_loss();
  for (const int rank : {0, 1, 3, 4}) job.kill(rank);
  job.repair();
  EXPECT_TRUE(job.journal(0).recovery().has_lost_messages() && job.journal(0).recovery().is_needed());
}

}  // namespace
}  // namespace fenix_test
