// SPDX-License-Identifier: BSD-3-Clause
#include "core/common/meeting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/simulated_job.hpp"

using namespace fenix_impl;
using namespace fenix_test;

namespace {

/// All meet; errors: what each rank has to complain of, if anything.
std::vector<Outcome> meet_with(Job& job, const std::vector<std::string>& errors) {
  return job.run([&](Rank& rank) {
    const std::string& error = errors.at(static_cast<std::size_t>(rank.number));
    (void)meet(*rank.team, Operation::memory, 7, 0, [&] {
      if (!error.empty()) throw Error(FENIX_ERROR_INVALID_ARGUMENT, error);
    });
  });
}

TEST(Meeting, SumsUpTheValuesOfAll) {
  Job job(3);
  const auto outcomes = job.run([](Rank& rank) {
    const auto values = meet(*rank.team, Operation::memory, 7, static_cast<std::uint64_t>(10 + rank.number), [] {});
    EXPECT_EQ(values.least, 10U);
    EXPECT_EQ(values.bits, 10U | 11U | 12U);
  });
  for (const Outcome& each : outcomes) EXPECT_EQ(each.ending, Ending::done) << each;
}

TEST(Meeting, TellsAllWhatTheFirstRankWithAnErrorSays) {
  Job job(4);
  const auto outcomes = meet_with(job, {"", "one", "two", ""});
  for (const Outcome& each : outcomes) EXPECT_EQ(each.code, FENIX_ERROR_INVALID_ARGUMENT) << each;
  EXPECT_EQ(outcomes[0].text, "rank 1: one");
  EXPECT_EQ(outcomes[1].text, "one");
  EXPECT_EQ(outcomes[2].text, "two");
  EXPECT_EQ(outcomes[3].text, "rank 1: one");
}

TEST(Meeting, CutsLongTexts) {
  Job job(2);
  const std::string text(1000, 'x');
  const auto outcomes = meet_with(job, {text, ""});
  EXPECT_EQ(outcomes[0].text, text);
  EXPECT_EQ(outcomes[1].text, "rank 0: " + text.substr(0, 135));
}

TEST(Meeting, NoticesOtherCallsAndArguments) {
  for (const bool other_call : {true, false}) {
    Job job(3);
    const auto outcomes = job.run([&](Rank& rank) {
      const bool differs = rank.number == 2;
      (void)meet(*rank.team, differs && other_call ? Operation::agree_on_sizes : Operation::memory, differs ? 8 : 7, 0,
                 [] {});
    });
    for (const Outcome& each : outcomes) {
      EXPECT_EQ(each.code, FENIX_ERROR_MISMATCH) << each;
      EXPECT_EQ(each.text.substr(0, 17), "rank 2 and rank 0") << each;
    }
  }
}

// Each rank says one of three things, in all ways: the same on all, for numbers of ranks that are powers of two and others.
TEST(Meeting, NamesTheFirstThatDiffersFromRankZero) {
  for (const auto& [ranks, ways] : {std::pair{2, 9}, {3, 27}, {5, 243}}) {
    for (int way = 0; way < ways; ++way) {
      std::vector<std::uint64_t> says;
      for (int rank = 0, rest = way; rank < ranks; ++rank, rest /= 3)
        says.push_back(static_cast<std::uint64_t>(rest % 3));
      const auto other = std::find_if(says.begin(), says.end(), [&](auto each) { return each != says[0]; });
      Job job(ranks);
      const auto outcomes = job.run([&](Rank& rank) {
        (void)meet(*rank.team, Operation::memory, says[static_cast<std::size_t>(rank.number)], 0, [] {});
      });
      for (const Outcome& each : outcomes) {
        if (other == says.end()) {
          EXPECT_EQ(each.ending, Ending::done) << way << ": " << each;
        } else {
          EXPECT_EQ(each.text, "rank " + std::to_string(other - says.begin()) + " and rank 0 gave different arguments")
              << way;
        }
      }
    }
  }
}

// An error that comes after another call has been made is not looked at: who made that call does not wait for the text.
TEST(Meeting, AnErrorOfALaterRankDoesNotHideAnotherCall) {
  for (const int failing : {1, 3}) {
    Job job(4);
    const auto outcomes = job.run([&](Rank& rank) {
      (void)meet(*rank.team, rank.number == 2 ? Operation::agree_on_sizes : Operation::memory, 7, 0, [&] {
        if (rank.number == failing) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "why");
      });
    });
    for (int rank = 0; rank < 4; ++rank) {
      const Outcome& each = outcomes[static_cast<std::size_t>(rank)];
      if (rank == failing) {
        EXPECT_EQ(each.text, "why");
      } else if (failing == 1) {
        EXPECT_EQ(each.text, "rank 1: why");
      } else {
        EXPECT_EQ(each.text, "rank 2 and rank 0 made different collective calls");
      }
    }
  }
}

TEST(Meeting, DoesNotWaitForARankThatDiesBeforeItHasSaidWhy) {
  int deaths = 0;
  for (int steps = 0; steps < 10; ++steps) {
    Job job(3);
    job.doom(1, steps);
    const auto outcomes = meet_with(job, {"", "one", ""});
    deaths += outcomes[1] == Ending::died ? 1 : 0;
    for (const int rank : {0, 2}) {
      const Outcome& each = outcomes[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(each == Ending::failure_seen || each.text == "rank 1: one") << steps << ": " << each;
    }
  }
  EXPECT_GE(deaths, 4) << "before, within and after the notes and the text";
}

}  // namespace
