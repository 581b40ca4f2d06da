// SPDX-License-Identifier: BSD-3-Clause
#include "core/meeting.hpp"

#include <gtest/gtest.h>

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

TEST(Meeting, GivesTheValuesOfAll) {
  Job job(3);
  const auto outcomes = job.run([](Rank& rank) {
    const auto values = meet(*rank.team, Operation::memory, 7, static_cast<std::uint64_t>(10 + rank.number), [] {});
    EXPECT_EQ(values, (std::vector<std::uint64_t>{10, 11, 12}));
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
      (void)meet(*rank.team, differs && other_call ? Operation::settle : Operation::memory, differs ? 8 : 7, 0, [] {});
    });
    for (const Outcome& each : outcomes) {
      EXPECT_EQ(each.code, FENIX_ERROR_MISMATCH) << each;
      EXPECT_EQ(each.text.substr(0, 17), "rank 2 and rank 0") << each;
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
