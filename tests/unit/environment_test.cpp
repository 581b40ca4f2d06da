// SPDX-License-Identifier: BSD-3-Clause
// The variables of the environment: what is allowed, what it means, and what is said of what is not.
#include "base/environment.hpp"
#include "base/environment_checks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

const Variable& known(std::string_view name) {
  const auto found =
      std::find_if(kVariables.begin(), kVariables.end(), [&](const Variable& each) { return each.name == name; });
  return *found;
}

/// Sets a variable for as long as it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

struct Written {
  const char* name;
  const char* text;
  double value;
};

TEST(Environment, AllFormsHaveTheirMeaning) {
  constexpr std::array kAllowed{
      Written{"FENIX_TIMEOUT", "20", 20},        Written{"FENIX_TIMEOUT", "1.5", 1.5},
      Written{"FENIX_TIMEOUT", "20s", 20},       Written{"FENIX_TIMEOUT", "10m", 600},
      Written{"FENIX_TIMEOUT", "250ms", 0.25},   Written{"FENIX_TIMEOUT", "2h", 7200},
      Written{"FENIX_TIMEOUT", "1d", 86400},     Written{"FENIX_SPARES", "0", 0},
      Written{"FENIX_SPARES", "2", 2},           Written{"FENIX_FLUSH_RATE", "1000", 1000},
      Written{"FENIX_FLUSH_RATE", "64K", 65536}, Written{"FENIX_FLUSH_RATE", "3G", 3221225472.},
      Written{"FENIX_MLOG_COPIES", "3", 3},      Written{"FENIX_COMMIT_OVERHEAD", "2.5", 2.5},
      Written{"FENIX_IN_PLACE", "1", 1},         Written{"FENIX_IN_PLACE", "on", 1},
      Written{"FENIX_IN_PLACE", "0", 0},         Written{"FENIX_IN_PLACE", "off", 0},
      Written{"FENIX_PATH", "auto", 0},          Written{"FENIX_PATH", "window", 3},
      Written{"FENIX_STORE", "/a b", 0},         Written{"FENIX_FAULT", "commit.held:1:5,x:s1.0:1:flip=3", 0}};
  for (const Written& each : kAllowed) {
    EXPECT_EQ(environment::parse(known(each.name), each.text), each.value) << each.name << "=" << each.text;
  }
}

TEST(Environment, NothingElseIsAllowed) {
  constexpr std::array kWrong{Written{"FENIX_TIMEOUT", "10x", 0},
                              Written{"FENIX_TIMEOUT", "10 m", 0},
                              Written{"FENIX_TIMEOUT", "0", 0},
                              Written{"FENIX_TIMEOUT", "-1", 0},
                              Written{"FENIX_TIMEOUT", "inf", 0},
                              Written{"FENIX_TIMEOUT", "nan", 0},
                              Written{"FENIX_TIMEOUT", "m", 0},
                              Written{"FENIX_TIMEOUT", "1e3", 0},
                              Written{"FENIX_TIMEOUT", "0x10", 0},
                              Written{"FENIX_TIMEOUT", "1m30", 0},
                              Written{"FENIX_TIMEOUT", "20,", 0},
                              Written{"FENIX_TIMEOUT", " 20", 0},
                              Written{"FENIX_TIMEOUT", "2000000d", 0},
                              Written{"FENIX_SPARES", "two", 0},
                              Written{"FENIX_SPARES", "-1", 0},
                              Written{"FENIX_SPARES", "-0", 0},
                              Written{"FENIX_SPARES", "1.0", 0},
                              Written{"FENIX_SPARES", "1 ", 0},
                              Written{"FENIX_SPARES", "1K", 0},
                              Written{"FENIX_SPARES", "3000000000", 0},
                              Written{"FENIX_FLUSH_RATE", "1.5K", 0},
                              Written{"FENIX_FLUSH_RATE", "1k", 0},
                              Written{"FENIX_FLUSH_RATE", "1KB", 0},
                              Written{"FENIX_MLOG_COPIES", "4", 0},
                              Written{"FENIX_MLOG_MEMORY", "0", 0},
                              Written{"FENIX_COMMIT_OVERHEAD", "101", 0},
                              Written{"FENIX_COMMIT_OVERHEAD", "5%", 0},
                              Written{"FENIX_IN_PLACE", "yes", 0},
                              Written{"FENIX_IN_PLACE", "2", 0},
                              Written{"FENIX_PATH", "pigeon", 0},
                              Written{"FENIX_PATH", "Auto", 0},
                              Written{"FENIX_PATH", "auto map", 0},
                              Written{"FENIX_FAULT", "commit.held", 0},
                              Written{"FENIX_FAULT", "commit.held:1:x", 0},
                              Written{"FENIX_FAULT", "commit.held:1:5,", 0}};
  for (const Written& each : kWrong) {
    EXPECT_FALSE(environment::parse(known(each.name), each.text)) << each.name << "=" << each.text;
  }
}

TEST(Environment, TheTableIsSound) {
  std::set<std::string_view> names;
  for (const Variable& each : kVariables) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.without.empty() || environment::parse(each, each.without)) << each.name;
    EXPECT_FALSE(environment::forms_of(each).empty()) << each.name;
    EXPECT_FALSE(each.meaning.empty()) << each.name;
  }
}

TEST(Environment, AWrongValueIsRefusedByNameAndCountsAsTheDefault) {
  const Setting wrong("FENIX_FLUSH", "often");
  EXPECT_EQ(environment::whole("FENIX_FLUSH"), 0U);
  try {
    environment::check();
    FAIL() << "FENIX_FLUSH=often is allowed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(), "FENIX_FLUSH is \"often\" in the environment, and has to be a whole number");
  }
}

TEST(Environment, TheTextNamesAllFormsOfATime) {
  const Setting wrong("FENIX_KEEP", "10x");
  EXPECT_EQ(environment::mistake_in(*environment::Name("FENIX_KEEP")),
            "FENIX_KEEP is \"10x\" in the environment, and has to be seconds; ms, s, m, h or d may stand behind the "
            "number");
  const Setting choice("FENIX_PATH", "pigeon");
  EXPECT_EQ(environment::mistake_in(*environment::Name("FENIX_PATH")),
            "FENIX_PATH is \"pigeon\" in the environment, and has to be auto, map, fabric or window");
}

TEST(Environment, AnEmptyVariableIsNone) {
  const Setting empty("FENIX_FLUSH_TIMEOUT", "");
  EXPECT_FALSE(environment::is_set("FENIX_FLUSH_TIMEOUT"));
  EXPECT_EQ(environment::whole("FENIX_FLUSH_TIMEOUT"), 60U);
  EXPECT_NO_THROW(environment::check());
}

TEST(Environment, PartsOfASecondAreRoundedUp) {
  const Setting short_time("FENIX_FLUSH_TIMEOUT", "250ms");
  EXPECT_EQ(environment::whole("FENIX_FLUSH_TIMEOUT"), 1U);
}

// Deadline reads its variable once in a process.
TEST(Environment, TenMinutesAreSixHundredSeconds) {
  EXPECT_EXIT(
      {
        setenv("FENIX_TIMEOUT", "10m", 1);
        std::_Exit(Deadline::timeout() == std::chrono::seconds(600) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Environment, ANameThatNobodyKnowsIsToldWithTheOneThatMayBeMeant) {
  const Setting misspelt("FENIX_TIMEOOUT", "20");
  const Setting strange("FENIX_MADE_UP_BY_A_PROGRAM", "1");
  const Setting of_harness("FENIX_JOB", "1");
  const Setting of_tests("FENIX_TEST_SEED", "1");
  const Setting of_run("FENIX_RUNS", "3");
  auto told = environment::ignored();
  std::sort(told.begin(), told.end());
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0], "FENIX_MADE_UP_BY_A_PROGRAM is in the environment, and nobody reads it");
  EXPECT_EQ(told[1], "FENIX_TIMEOOUT is in the environment, and nobody reads it; FENIX_TIMEOUT may be meant");
}

TEST(Environment, FlushesWithoutAStoreAreTold) {
  {
    const Setting never("FENIX_FLUSH", "0");
    EXPECT_TRUE(environment::ignored().empty());
  }
  const Setting often("FENIX_FLUSH", "10");
  ASSERT_EQ(environment::ignored().size(), 1U);
  EXPECT_EQ(environment::ignored().front().substr(0, 22), "FENIX_STORE is not set");
  const Setting store("FENIX_STORE", "/scratch");
  EXPECT_TRUE(environment::ignored().empty());
}

TEST(Environment, ValuesThatMeanTheSameAreTheSame) {
  const auto shared_of = [](std::string_view name) {
    for (const auto& each : environment::shared()) {
      if (each.variable->name == name) return each.value;
    }
    return 0U;
  };
  const auto without = shared_of("FENIX_FLUSH_TIMEOUT");
  {
    const Setting said("FENIX_FLUSH_TIMEOUT", "1m");
    EXPECT_EQ(shared_of("FENIX_FLUSH_TIMEOUT"), without);
  }
  const Setting other("FENIX_FLUSH_TIMEOUT", "61");
  EXPECT_NE(shared_of("FENIX_FLUSH_TIMEOUT"), without);
  const auto nowhere = shared_of("FENIX_STORE");
  const Setting store("FENIX_STORE", "/scratch");
  EXPECT_NE(shared_of("FENIX_STORE"), nowhere);
}

// The default is "warn", and each warning is said once.
TEST(Environment, WarningsAreShownOnceUnlessTheyAreTurnedOff) {
  const auto warn = [] {
    log().info("a piece of news");
    for (int i = 0; i < 3; ++i) log().warn("a warning");
    log().warn("another one");
    std::_Exit(0);
  };
  EXPECT_EXIT(
      {
        unsetenv("FENIX_LOG");
        warn();
      },
      testing::ExitedWithCode(0), "^[^\n]*fenix warning\\] a warning\n[^\n]*fenix warning\\] another one\n$");
  EXPECT_EXIT(
      {
        setenv("FENIX_LOG", "off", 1);
        warn();
      },
      testing::ExitedWithCode(0), "^$");
}

// A second process of the job gives the same warning while the first one lives.
[[noreturn]] void warn_in_two_processes(const char* level) {
  setenv("PMIX_NAMESPACE", ("job of process " + std::to_string(getpid())).c_str(), 1);
  setenv("FENIX_LOG", level, 1);
  std::array<int, 2> ends{};
  char byte = 0;
  if (pipe(ends.data()) != 0) std::_Exit(1);
  const pid_t second = fork();
  const bool is_first = second != 0;
  if (!is_first && read(ends[0], &byte, 1) != 1) std::_Exit(1);
  log().warn("a log is full");
  if (!is_first) std::_Exit(0);
  int ended = 1;
  if (write(ends[1], &byte, 1) != 1 || waitpid(second, &ended, 0) != second) std::_Exit(1);
  std::_Exit(ended);
}

TEST(Environment, RanksOfANodeWarnOnce) {
  EXPECT_EXIT(warn_in_two_processes("warn"), testing::ExitedWithCode(0), "^[^\n]*a log is full\n$");
  EXPECT_EXIT(warn_in_two_processes("info"), testing::ExitedWithCode(0),
              "^[^\n]*a log is full\n[^\n]*a log is full\n$");
}

}  // namespace
}  // namespace fenix_impl
